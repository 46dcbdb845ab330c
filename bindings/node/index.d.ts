import type {Operators} from './operators.js';

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

export type {Operators};
/** All operators as functions. */
export const nd: Operators;
