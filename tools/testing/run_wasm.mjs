/* Runs a test program of WebAssembly in Node.js: node run_wasm.mjs PROGRAM ARGUMENTS. It sees the files of /tmp and of
 * the current folder. */
import fs from 'node:fs';
import process from 'node:process';
import {WASI} from 'node:wasi';

/* (--single-threaded: now and then Node.js 20 crashes at its end while other threads compile.) */
const [program] = process.argv.slice(2);
const wasi = new WASI({version: 'preview1', args: process.argv.slice(2), env: {...process.env, PWD: process.cwd()},
  preopens: {'/tmp': '/tmp', '.': process.cwd()}});
const module = await WebAssembly.compile(fs.readFileSync(program));
process.exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
