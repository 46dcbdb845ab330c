'use strict';
/** What the library reports: one line that names the operator, what is wrong, and what came. */
class MXNetError extends Error {
  constructor(message) {
    super(message);
    this.name = 'MXNetError';
  }
}

module.exports = MXNetError;
