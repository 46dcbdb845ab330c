'use strict';
/* Writes index.d.ts: the module's own names, and a signature for every operator, from the library's introspection. With
 * --check it only says whether the file is up to date. */
const fs = require('fs');
const path = require('path');
const {describe, operatorNames} = require('./index.js');

const HEAD = `// Written by make_types.js from the library's operators; do not edit.
export type DType = 'float32' | 'float64' | 'float16' | 'uint8' | 'int32' | 'int8' | 'int64' | 'bool';
export type Values = Float32Array | Float64Array | Uint8Array | Int32Array | Int8Array | BigInt64Array;
export type Nested = number | Nested[];
export type Param = string | number | boolean | null | Param[];

export class MXNetError extends Error {}

export class NDArray {
  constructor(handle: number);
  static readonly dtypes: DType[];
  readonly handle: number;
  readonly shape: number[];
  readonly dtype: DType;
  readonly size: number;
  readonly grad: NDArray | null;
  dispose(): void;
  values(): Values;
  toArray(): Nested;
  item(): number;
  set(values: ArrayLike<number> | ArrayLike<bigint>): this;
  slice(begin: number, end?: number): NDArray;
  reshape(...shape: number[] | number[][]): NDArray;
  astype(dtype: DType): NDArray;
  detach(): NDArray;
  attachGrad(request?: 'write' | 'add' | 'null'): this;
  backward(headGrad?: NDArray | null, options?: {retainGraph?: boolean; train?: boolean}): void;
  add(other: NDArray | number): NDArray;
  sub(other: NDArray | number): NDArray;
  mul(other: NDArray | number): NDArray;
  div(other: NDArray | number): NDArray;
  pow(other: NDArray | number): NDArray;
  rsub(other: number): NDArray;
  rdiv(other: number): NDArray;
}

export function array(value: Nested | Values, options?: {dtype?: DType; shape?: number[]}): NDArray;
export function scope<T>(fn: () => T): T;
export function seed(number: number): void;
export function invoke(name: string, inputs?: NDArray[], params?: Record<string, Param | undefined>,
  out?: NDArray | NDArray[] | null): any;
export function operatorNames(): string[];
export interface Described { name: string; type: string }
export function describe(name: string):
  {name: string; doc: string; counts: string; inputs: Described[]; params: Described[]};
export function record<T>(fn: () => T, options?: {train?: boolean}): T;
export function pause<T>(fn: () => T, options?: {train?: boolean}): T;
export function backward(heads: NDArray | NDArray[], headGrads?: NDArray | (NDArray | null)[] | null,
  options?: {retainGraph?: boolean; train?: boolean}): void;
export function grad(heads: NDArray | NDArray[], variables: NDArray | NDArray[], options?: {
  headGrads?: NDArray | (NDArray | null)[] | null; createGraph?: boolean; retainGraph?: boolean; train?: boolean;
}): NDArray[];
export function save(file: string, arrays: NDArray | NDArray[] | Record<string, NDArray>): void;
export function load(file: string | ArrayBuffer | Uint8Array): NDArray[] | Record<string, NDArray>;
export function liveHandles(): number;

export interface ModelNode {
  name: string; operator: string | null; params: Record<string, string>; inputs: [number, number][];
  shapes: (number[] | null)[];
}
export class Model {
  constructor(symbol: string, params?: string | ArrayBuffer | Uint8Array | Record<string, NDArray>);
  readonly arguments: string[];
  readonly inputs: string[];
  readonly outputs: string[];
  readonly params: Record<string, NDArray>;
  forward(inputs: Record<string, NDArray>, options?: {train?: boolean | null}): NDArray | NDArray[];
  nodes(shapes?: Record<string, number[]>): ModelNode[];
  toJSON(): string;
  dispose(): void;
}

export interface SavedTensor { of: 'input' | 'output'; index: number; shape: number[]; dtype: DType; bytes: number }
export interface RecordedNode {
  name: string; operator: string | null; variable: string | null; sequence: number; released: boolean;
  params: Record<string, string>; inputs: ({node: number; output: number} | null)[];
  outputs: {shape: number[]; dtype: DType}[]; saved: SavedTensor[];
}
export function graph(heads: NDArray | NDArray[], variables?: Record<string, NDArray>): RecordedNode[];

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
  const named = inputs.length === 0 && required ? `params: ${object}` : `...given: (NDArray | NDArray[] | null | ${object})[]`;
  return `  ${key(name)}(${named}): any;\n`;
}

const written = HEAD + operatorNames().sort().map(signature).join('') + '}\nexport const nd: Operators;\n';
const file = path.join(__dirname, 'index.d.ts');
if (process.argv.includes('--check')) {
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== written) {
    console.error('index.d.ts is out of date: node make_types.js');
    process.exit(1);
  }
} else {
  fs.writeFileSync(file, written);
}
