/* Where `make wasm` has put the package: MXLITE_WEB, or the build folder of this source tree. */
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const built = fileURLToPath(new URL('../../../build/wasm/package', import.meta.url));

export const packageFile = (name) => pathToFileURL(path.join(process.env.MXLITE_WEB || built, name)).href;
