/* Calls between the page and its workers: Remote in the page, serve() in a worker. */

/** A worker that answers calls. It is started by the first call, and again by the next one after it has failed. */
export class Remote {
  #url;
  #onEvent;
  #onStop;
  #worker = null;
  #open = new Map();
  #count = 0;
  /** How often a worker has been started: each begins with nothing. */
  starts = 0;

  /** @param {URL} url a module @param {function({event: string}): void} onEvent gets what it sends by itself
   * @param {function(string): void} onStop is called, with the reason, when it has failed */
  constructor(url, onEvent = () => {}, onStop = () => {}) {
    [this.#url, this.#onEvent, this.#onStop] = [url, onEvent, onStop];
  }

  #start() {
    if (typeof Worker !== 'function')
      throw new Error(
        'This browser has no background workers (Web Workers), in which the network runs. ' +
          'A current Chrome, Firefox or Safari has them.',
      );
    const worker = new Worker(this.#url, {type: 'module'});
    worker.onmessage = ({data}) => {
      if (data.event) return this.#onEvent(data);
      const call = this.#open.get(data.id);
      this.#open.delete(data.id);
      return 'error' in data ? call.reject(new Error(data.error)) : call.resolve(data.result);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#stop(
        event.message ||
          'the background worker could not be started: this browser may be too old, or a file is missing',
      );
    };
    this.#worker = worker;
    this.starts++;
  }

  get runs() {
    return this.#worker !== null;
  }

  /** Ends the worker; open calls fail with the reason. */
  #stop(reason) {
    this.#worker.terminate();
    this.#worker = null;
    for (const {reject} of this.#open.values()) reject(new Error(reason));
    this.#open.clear();
    this.#onStop(reason);
  }

  /** Calls a function of the worker. @param {string} name @returns {Promise<any>} */
  async call(name, ...given) {
    if (!this.#worker) this.#start();
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#open.set(id, {resolve, reject});
      this.#worker.postMessage({id, name, given});
    });
  }
}

/** Answers the calls of a Remote with functions, which may be async, one after another: a call that comes while the
 * library is being loaded waits for it.
 * @param {Object<string, function>} functions */
export function serve(functions) {
  const answer = async ({id, name, given}) => {
    try {
      globalThis.postMessage({id, result: await functions[name](...given)});
    } catch (problem) {
      globalThis.postMessage({id, error: oneLine(problem)});
    }
  };
  let last = Promise.resolve();
  globalThis.onmessage = ({data}) => {
    last = last.then(() => answer(data));
  };
}

/** An error as a line for people: without the name of the function of the C API that reports it. */
export function oneLine(problem) {
  const text = String(problem.message || problem)
    .split('\n')[0]
    .replace(/^(mxlite|MX\w+|NN\w+): (Error in operator: )?/, '');
  return problem instanceof RangeError && /memory|allocation|length/i.test(text) ? `out of memory: ${text}` : text;
}
