import {createRequire} from 'node:module';
import {packageFile} from './package.mjs';

const {load} = await import(packageFile('index.js'));
createRequire(import.meta.url)('../../node/conformance.js').conformance(await load());
