'use strict';
/* mxlite for Node.js: what front.js and graphs.js make of the library that koffi opens. */
const library = require('./library.js');
const arrays = require('./front.js')(library);

module.exports = {...arrays, ...require('./graphs.js')(library, arrays)};
