/* Trains the network of bindings/node/examples/digits.js in WebAssembly: node examples/digits.mjs [DATA], after make
 * wasm */
import fs from 'node:fs';
import {createRequire} from 'node:module';
import {packageFile} from '../test/package.mjs';

const {load} = await import(packageFile('index.js'));
const {train, file} = createRequire(import.meta.url)('../../node/examples/digits.js');
train(await load(), fs.readFileSync(file));
