'use strict';
require('../conformance.js')(require('..'));
