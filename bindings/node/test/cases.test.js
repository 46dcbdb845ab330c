'use strict';
require('../conformance.js').conformance(require('..'));
