'use strict';
/* Writes operators.d.ts: a signature for every operator, from the library's introspection; index.d.ts has the module's
 * own names. With --check it only says whether the file is up to date. */
const fs = require('fs');
const path = require('path');
const {describe, operatorNames} = require('./index.js');

const HEAD = `// Written by make_types.js from the library's operators; do not edit.
import type {NDArray, Param} from './index.js';

/** Operators: arrays first, then an object of parameters; several outputs come as a list. */
export interface Operators {
`;

/** TypeScript's type for a parameter of the library's. */
function typeOf(type) {
  const kind = type.split(',')[0].trim();
  if (type.startsWith('{')) {
    const choices = /^\{([^}]*)\}/.exec(type)[1].split(',').map((each) => each.trim().replace(/^'|'$/g, ''));
    return choices.map((each) => (each === 'None' ? 'null' : `'${each}'`)).join(' | ') + ' | null';
  }
  if (/^(int|long|float|double)/.test(kind)) return /None/.test(type) ? 'number | null' : 'number';
  if (/^boolean/.test(kind)) return /None/.test(type) ? 'boolean | null' : 'boolean';
  if (/^string/.test(kind)) return 'string | null';
  return 'Param';
}

const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function signature(name) {
  const {params, inputs, counts} = describe(name);
  const open = counts === '' && inputs.some(({type}) => type.endsWith('[]')) ? ['[own: string]: any'] : []; // Custom
  const required = params.some(({type}) => /required/.test(type) && !/num_args/.test(type));
  const fields = params.map((each) => `${key(each.name)}${/required/.test(each.type) ? '' : '?'}: ${typeOf(each.type)}`);
  const object = `{${[...fields, ...open, 'out?: NDArray | NDArray[]'].join('; ')}}`;
  const named = inputs.length || !required ? `...given: (NDArray | NDArray[] | null | ${object})[]` : `params: ${object}`;
  return `  ${key(name)}(${named}): any;\n`;
}

const written = HEAD + operatorNames().sort().map(signature).join('') + '}\n';
const file = path.join(__dirname, 'operators.d.ts');
if (process.argv.includes('--check')) {
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== written) {
    console.error('operators.d.ts is out of date: node make_types.js');
    process.exit(1);
  }
} else {
  fs.writeFileSync(file, written);
}
