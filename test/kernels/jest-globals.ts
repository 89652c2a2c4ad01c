import { expect } from 'expect';
import * as runner from 'node:test';
import { format } from 'node:util';

type Work = (...row: never[]) => unknown;
type Hook = 'before' | 'after' | 'beforeEach' | 'afterEach';

/** A suite as a test file declares it. */
class Suite {
  readonly hooks: { readonly hook: Hook; readonly work: () => unknown }[] = [];
  readonly children: (Suite | { readonly name: string; readonly work: () => unknown })[] = [];

  constructor(readonly name: string) {}

  /** Declares the tests whose full names match, and what surrounds them, for node:test. */
  declare(names: RegExp, path: readonly string[] = []): void {
    for (const { hook, work } of this.hooks) runner[hook](async () => void (await work()));
    for (const child of this.children) {
      const childPath = [...path, child.name];
      if (!hasMatch(child, names, childPath)) continue;
      if (child instanceof Suite) void runner.describe(child.name, () => child.declare(names, childPath));
      else runner.it(child.name, async () => void (await child.work()));
    }
  }
}

function hasMatch(node: Suite['children'][number], names: RegExp, path: readonly string[]): boolean {
  return node instanceof Suite
    ? node.children.some((child) => hasMatch(child, names, [...path, child.name]))
    : names.test(path.join(' '));
}

const file = new Suite('');
let current = file;

function describe(name: string, declare: () => void): void {
  const suite = new Suite(name);
  const outer = current;
  outer.children.push(suite);
  current = suite;
  declare();
  current = outer;
}

function it(name: string, work: () => unknown): void {
  current.children.push({ name, work });
}

/** `each` of jest: a row is a list of parameters, or a single one; names have `%s` and `$property`. */
const withEach = (declare: (name: string, work: () => never) => void) =>
  Object.assign(declare, {
    each: (rows: readonly unknown[]) => (name: string, work: Work) => {
      for (const row of rows) {
        const parameters = (Array.isArray(row) ? row : [row]) as readonly unknown[];
        const [first] = parameters;
        const named = name.replace(/\$(\w+)/g, (text, property: string) =>
          String((first as Readonly<Record<string, unknown>>)[property] ?? text),
        );
        const count = named.match(/%[sdijo]/g)?.length ?? 0;
        declare(
          format(named, ...parameters.slice(0, count)),
          () => work(...(parameters as never[])) as never,
        );
      }
    },
  });

const hook = (name: Hook) => (work: () => unknown) => void current.hooks.push({ hook: name, work });

Object.assign(globalThis, {
  describe: withEach(describe),
  it: withEach(it),
  beforeAll: hook('before'),
  afterAll: hook('after'),
  beforeEach: hook('beforeEach'),
  afterEach: hook('afterEach'),
  expect,
});

/**
 * Runs what a test file of jest's has declared with the globals that this module makes, by node:test, as far as full names match. In a
 * guest jest itself takes minutes to start, because it reads the whole checkout.
 */
export function runTests(names: string): void {
  file.declare(new RegExp(names));
}
