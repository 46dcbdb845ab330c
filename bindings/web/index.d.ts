import type * as front from './front.js';
export type {
  DType, Described, Model, ModelNode, MXNetError, NDArray, Nested, Operators, Param, RecordedNode, SavedTensor, Values,
} from './front.js';

/** Files that the library sees: `mx.load('x.params')` reads what `mx.files.write('x.params', bytes)` wrote. */
export interface Files {
  write(path: string, content: string | ArrayBuffer | Uint8Array): void;
  read(path: string): Uint8Array;
  list(): string[];
  remove(path: string): boolean;
}

export type Mxlite = typeof front & {
  readonly files: Files;
  /** The module's memory, which never becomes smaller. */
  memoryBytes(): number;
};

/** Loads mxlite.wasm: where it is (default: beside this file), its bytes (also compressed with gzip), or the module. */
export function load(source?: string | URL | ArrayBuffer | Uint8Array | WebAssembly.Module,
  options?: {env?: Record<string, string>}): Promise<Mxlite>;
