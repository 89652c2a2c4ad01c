import { makeParts } from '../../src/bootstrap/parts.js';

interface Parts {
  readonly word: string;
  readonly length: number;
  readonly text: { readonly text: string };
  readonly nothing: string | undefined;
}

const providers = {
  text: ({ word, length }: Parts) => ({ text: `${word} has ${length}` }),
  length: ({ word }: Parts) => word.length,
  word: () => 'four',
  nothing: () => undefined,
};

describe('makeParts', () => {
  it('makes parts from others, in whichever order they are declared', () => {
    const { text, length } = makeParts<Parts>(providers);
    expect([text, length]).toEqual([{ text: 'four has 4' }, 4]);
  });

  it('makes nothing before it is needed, and everything once', () => {
    let made = 0;
    const parts = makeParts<Parts>({ ...providers, word: () => `number ${++made}` });
    expect(made).toBe(0);
    const first = parts.text;
    expect([parts.text === first, made]).toEqual([true, 1]);
  });

  it('knows undefined as a part', () => {
    expect(makeParts<Parts>(providers).nothing).toBeUndefined();
  });

  it('makes everything from what counts instead', () => {
    expect(makeParts<Parts>({ ...providers, word: () => 'fifteen' }).length).toBe(7);
  });

  it('names what is missing', () => {
    const incomplete = { text: providers.text } as typeof providers;
    expect(() => makeParts<Parts>(incomplete).text).toThrow(/word/);
  });

  it('is checked by the compiler', () => {
    // @ts-expect-error a word is no number
    const wrong = { ...providers, length: ({ word }: Parts) => word } satisfies typeof providers;
    // @ts-expect-error there is no text
    makeParts<Parts>({ word: () => 'four', length: () => 4, nothing: () => undefined });
    // @ts-expect-error a number has no length
    makeParts<Parts>({ ...providers, length: ({ length }) => length.length });
    expect(wrong).toBeDefined();
  });
});
