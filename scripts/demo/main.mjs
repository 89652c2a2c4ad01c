import { existsSync, watch } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Demo } from './demo.mjs';
import { complain, say, topology } from './display.mjs';
import { Network } from './network.mjs';
import { claim } from './owner.mjs';
import { Page } from './page.mjs';
import { broken, Proxy } from './proxy.mjs';

const defaultExamples = fileURLToPath(new URL('../../deploy/examples', import.meta.url));

/** Runs the demo until Ctrl-C, SIGTERM, `--for`, or a failure. Resolves to the exit status, after everything has been removed. */
export async function main(args) {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop.abort());
  try {
    const { prefix, examples, seconds } = parse(args);
    const owner = claim(prefix);
    try {
      await run(new Network(prefix), examples, seconds, stop);
    } finally {
      owner.release();
    }
    return 0;
  } catch (error) {
    complain(`npm start: ${error.stderr?.trim() || error.message}`);
    return 1;
  }
}

function parse(args) {
  const { values } = parseArgs({
    args,
    options: {
      for: { type: 'string' },
      examples: { type: 'string', default: defaultExamples },
      prefix: { type: 'string', default: 'demo' },
    },
  });
  const seconds = values.for === undefined ? undefined : Number(values.for);
  if (seconds !== undefined && !(seconds > 0))
    throw new Error(`--for takes a number of seconds, not "${values.for}".`);
  if (!/^[a-z0-9-]{1,40}$/.test(values.prefix))
    throw new Error('--prefix takes lower-case letters, digits and dashes.');
  return { prefix: values.prefix, examples: short(values.examples), seconds };
}

/** The folder as a user would type it. */
function short(folder) {
  const path = relative('', folder);
  return path.startsWith('..') ? resolve(folder) : path || '.';
}

async function run(network, examples, seconds, stop) {
  const proxy = new Proxy(network);
  const page = new Page();
  try {
    if (network.remove()) say('Removed what an earlier demo had left behind.\n');
    network.create();
    topology(network);
    say(`$ ${Proxy.command(examples).join(' ')}`);
    const address = await page.open(network);
    const demo = new Demo(network, proxy, examples, address, stop.signal);
    await demo.start();
    say(`Its page, while the demo runs: ${address}\n`);
    const folders = [examples, broken(examples)].filter((folder) => existsSync(folder));
    const watchers = folders.map((folder) => watch(folder, (_, name) => demo.edited(name)));
    const timer = seconds === undefined ? undefined : setTimeout(() => stop.abort(), seconds * 1000);
    try {
      await demo.follow();
    } finally {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    }
    say('\nStopping the proxy, and removing its rules and the namespaces.');
    await demo.stop();
    await proxy.stop();
    proxy.cleanup();
  } finally {
    page.close();
    await proxy.stop();
    network.remove();
  }
  say('Everything has been removed.');
}
