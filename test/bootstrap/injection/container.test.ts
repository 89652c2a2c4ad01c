import 'reflect-metadata';
import { Container } from '../../../src/bootstrap/injection/container.js';
import { Identifier } from '../../../src/bootstrap/injection/identifier.js';
import { provide, provideValue } from '../../../src/bootstrap/injection/provider.js';

const WORD = new Identifier<string>('word');
const LENGTH = new Identifier<number>('length');
const TEXT = new Identifier<{ readonly text: string }>('text');
const MISSING = new Identifier<string | undefined>('missing');

const length = provide(LENGTH, { word: WORD }, ({ word }) => word.length);
const text = provide(TEXT, { word: WORD, length: LENGTH }, (parts) => ({
  text: `${parts.word} has ${parts.length}`,
}));

describe('Container', () => {
  it('makes values from their dependencies, in whichever order they are declared', () => {
    const container = Container.create().load([text, length, provideValue(WORD, 'four')]);
    expect(container.resolve({ sentence: TEXT, count: LENGTH })).toEqual({
      sentence: { text: 'four has 4' },
      count: 4,
    });
  });

  it('makes nothing before it is needed, and everything once', () => {
    let made = 0;
    const container = Container.create().load([provide(WORD, {}, () => `number ${++made}`), length, text]);
    expect(made).toBe(0);
    const first = container.resolve({ text: TEXT });
    expect([container.resolve({ text: TEXT }).text === first.text, made]).toEqual([true, 1]);
  });

  it('knows undefined as a value', () => {
    const container = Container.create().load([provideValue(MISSING, undefined)]);
    expect(container.resolve({ missing: MISSING })).toEqual({ missing: undefined });
  });

  it('takes the last provider of an identifier, whether added together or later', () => {
    const container = Container.create().load(
      [provideValue(WORD, 'one'), provideValue(WORD, 'three')],
      [length],
    );
    container.load([provideValue(WORD, 'fifteen')]);
    expect(container.resolve({ length: LENGTH })).toEqual({ length: 7 });
  });

  it('shares the values of a parent with its children, which keep their own apart', () => {
    const SHARED = new Identifier<object>('shared');
    const OWN = new Identifier<{ readonly word: string; readonly shared: object }>('own');
    const parent = Container.create().load([provide(SHARED, {}, () => ({}))]);
    const own = provide(OWN, { word: WORD, shared: SHARED }, (parts) => parts);
    const [one, two] = ['one', 'two'].map((word) =>
      Container.create(parent)
        .load([own, provideValue(WORD, word)])
        .resolve({ own: OWN }),
    );
    expect([one!.own.word, two!.own.word]).toEqual(['one', 'two']);
    expect([one!.own.shared === two!.own.shared, one!.own.shared]).toEqual([
      true,
      parent.resolve({ shared: SHARED }).shared,
    ]);
  });

  it('names what is missing', () => {
    expect(() => Container.create().load([length]).resolve({ length: LENGTH })).toThrow(/Symbol\(word\)/);
  });

  it('is checked by the compiler', () => {
    // @ts-expect-error a word is no number
    provide(LENGTH, { word: WORD }, ({ word }) => word);
    // @ts-expect-error a number has no length
    provide(LENGTH, { word: LENGTH }, ({ word }) => word.length);
    // @ts-expect-error nothing of that name is declared
    provide(LENGTH, { word: WORD }, ({ text }) => text.length);
    // @ts-expect-error a number is no word
    provideValue(WORD, 4);
  });
});
