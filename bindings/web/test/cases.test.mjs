import {createRequire} from 'node:module';
import {packageFile} from './package.mjs';

const {load} = await import(packageFile('index.js'));
createRequire(import.meta.url)('../../node/conformance.js')(await load());
