import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { event, logLine, say, summary, tallies } from './display.mjs';
import { BACKEND_ADDRESSES } from './network.mjs';
import { broken } from './proxy.mjs';
import { askServed } from './served.mjs';
import { Visitor } from './visitor.mjs';

const backendProgram = fileURLToPath(new URL('backend.mjs', import.meta.url));
const BACKEND_PORT = '8080';
const READY_WITHIN_MS = 20_000;
/** Short: a probe sent before the rules were in place gets no response. */
const PROBE_TIMEOUT_MS = 100;
const ROUND_EVERY_MS = 1000;
const SUMMARY_EVERY_MS = 5000;
const SAVED_AFTER_MS = 50;
/** Enough that a running backend of three is practically never missed by chance: 3 · (2/3)⁴⁰ < 10⁻⁶. */
const REQUESTS = 40;

/** Backends, proxy and client at work. Everything ends early, without an error, when the signal aborts. */
export class Demo {
  #network;
  #proxy;
  #examples;
  #page;
  #signal;
  #visitor;
  #failure;
  #ignored = '';
  #edited = new AbortController();
  #editTimer;

  /** `page`: the address of the page of the proxy. */
  constructor(network, proxy, examples, page, signal) {
    this.#network = network;
    this.#proxy = proxy;
    this.#examples = examples;
    this.#page = page;
    this.#signal = signal;
  }

  /** Resolves when the first example responds through the proxy. */
  async start() {
    await Promise.all(this.#network.backends.map((_, index) => this.#startBackend(index)));
    const began = performance.now();
    this.#proxy.start(this.#examples, logLine, (why) => {
      this.#failure = new Error(`kubeproxy exited unexpectedly (${why}); its log is above`);
    });
    this.#visitor = new Visitor(this.#network);
    while (!(await this.#answers())) {
      if (this.#failure) throw this.#failure;
      if (this.#signal.aborted) return;
      if (performance.now() - began > READY_WITHIN_MS)
        throw new Error('no service responded; the log of kubeproxy is above');
      await delay(50);
    }
    say(`Ready ${Math.round(performance.now() - began)} ms after the start of the proxy.`);
    say();
  }

  async #startBackend(index) {
    const backend = this.#network.start(
      this.#network.backends[index],
      ...[process.execPath, backendProgram, `backend-${index + 1}`, BACKEND_ADDRESSES[index], BACKEND_PORT],
    );
    backend.stderr.pipe(process.stderr);
    await Promise.race([
      once(backend.stdout, 'data'),
      once(backend, 'exit').then(() => Promise.reject(new Error(`backend ${index + 1} did not start`))),
    ]);
  }

  async #answers() {
    const served = await askServed(this.#page);
    const counts = await this.#visitor.ask(served?.targets ?? [], 1, PROBE_TIMEOUT_MS);
    return counts.some((answers) => Object.keys(answers).some(isBackend));
  }

  /** Keeps sending requests and reports changes, until the signal aborts. Throws when the proxy or the client ends. */
  async follow() {
    let known = new Map();
    let collected = new Map();
    let told = performance.now();
    let targets = [];
    say(`${REQUESTS} requests from the client to each address, each over a new connection:`);
    while (!this.#signal.aborted) {
      if (this.#failure) throw this.#failure;
      this.#edited = new AbortController();
      const served = await askServed(this.#page);
      if (served) {
        targets = served.targets;
        this.#tellIgnored(served.ignored);
      }
      const gone = [...known.keys()].filter((place) => targets.every(({ address }) => address !== place));
      for (const address of gone) known.delete(address);
      if (gone.length > 0) event(`no longer served: ${gone.join(', ')}`);
      const counts = await this.#visitor.ask(targets, REQUESTS);
      const isNews = ({ address }, index) => known.get(address) !== Object.keys(counts[index]).join();
      const news = targets.filter(isNews);
      if (news.length > 0) {
        const show = (shown) =>
          tallies(
            shown,
            counts.filter((_, index) => shown.includes(targets[index])),
          );
        if (known.size > 0) {
          event('the responses have changed:');
          show(news);
        } else {
          show(news.filter(({ isBroken }) => !isBroken));
          this.#invite();
          this.#challenge(
            news.filter(({ isBroken }) => isBroken),
            show,
          );
        }
        known = new Map(targets.map(({ address }, index) => [address, Object.keys(counts[index]).join()]));
        collected = new Map();
        told = performance.now();
      }
      collected = add(collected, targets, counts);
      if (performance.now() - told > SUMMARY_EVERY_MS) {
        const whole = targets.filter(({ isBroken }) => !isBroken);
        summary(
          whole,
          whole.map(({ address }) => collected.get(address)),
        );
        collected = new Map();
        told = performance.now();
      }
      await this.#pause();
    }
  }

  /** Once for each bad edit, and once when all is well again. */
  #tellIgnored(ignored) {
    const text = ignored.join('; ');
    if (text === this.#ignored) return;
    this.#ignored = text;
    event(text === '' ? 'everything is valid again' : `ignored, the last valid version stays: ${text}`);
  }

  #invite() {
    say();
    say(`Try it: edit ${this.#examples}/web.yaml, save, and watch: delete an endpoint, for example.`);
    say(
      'Then break it: a port 99999, or YAML with a bracket too many. The last valid version stays, and the demo prints the reason.',
    );
    say('Ctrl-C ends the demo and removes everything.');
    say();
  }

  /** What to find out, and how to ask. */
  #challenge(targets, show) {
    if (targets.length === 0) return;
    say('Three more Services are broken. Find out why:');
    show(targets);
    say();
    say(`  ip netns exec ${this.#network.node} bin/kubeproxy explain login`);
    say(
      `shows the state of a Service with the reasons; "top cart" shows connections, and the page has both.`,
    );
    say(
      'A state may be ok although a client fails: the Service may request it, or the cause is outside the proxy.',
    );
    say(`Fix them in ${broken(this.#examples)}; solutions.txt has the solutions.`);
    say();
  }

  /** Waits until the next round is due, the examples are edited, or the demo ends. */
  async #pause() {
    const signal = AbortSignal.any([this.#signal, this.#edited.signal]);
    await delay(ROUND_EVERY_MS, undefined, { signal }).catch(() => {});
  }

  /** An example was saved: starts a round once the several events of one save are over. */
  edited(name) {
    if (!isManifest(name)) return;
    clearTimeout(this.#editTimer);
    this.#editTimer = setTimeout(() => {
      event(`${name} was edited`);
      this.#edited.abort();
    }, SAVED_AFTER_MS);
  }

  async stop() {
    clearTimeout(this.#editTimer);
    await this.#visitor?.leave();
  }
}

function isManifest(name) {
  return /^[^.].*\.(ya?ml|json)$/.test(name);
}

function isBackend(answer) {
  return answer.startsWith('backend-');
}

function add(collected, targets, counts) {
  return new Map(
    targets.map(({ address }, index) => {
      const sum = { ...collected.get(address) };
      for (const [answer, count] of Object.entries(counts[index])) sum[answer] = (sum[answer] ?? 0) + count;
      return [address, sum];
    }),
  );
}
