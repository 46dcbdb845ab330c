/* Runs a test program of WebAssembly in Node.js: node run_wasm.mjs PROGRAM ARGUMENTS. It sees this machine's files, and the
 * folder that is current here. */
import fs from 'node:fs';
import process from 'node:process';
import {WASI} from 'node:wasi';

const [program] = process.argv.slice(2);
const wasi = new WASI({version: 'preview1', args: process.argv.slice(2), env: {...process.env, PWD: process.cwd()},
  preopens: {'/': '/', '.': process.cwd()}});
const module = await WebAssembly.compile(fs.readFileSync(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
