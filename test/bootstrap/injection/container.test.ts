import { Container } from '../../../src/bootstrap/injection/container.js';

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

describe('Container', () => {
  it('makes parts from others, in whichever order they are declared', () => {
    const { text, length } = Container.create<Parts>(providers).parts;
    expect([text, length]).toEqual([{ text: 'four has 4' }, 4]);
  });

  it('makes nothing before it is needed, and everything once', () => {
    let made = 0;
    const { parts } = Container.create<Parts>({ ...providers, word: () => `number ${++made}` });
    expect(made).toBe(0);
    const first = parts.text;
    expect([parts.text === first, made]).toEqual([true, 1]);
  });

  it('knows undefined as a part', () => {
    expect(Container.create<Parts>(providers).parts.nothing).toBeUndefined();
  });

  it('makes everything from what counts instead', () => {
    expect(Container.create<Parts>({ ...providers, word: () => 'fifteen' }).parts.length).toBe(7);
  });

  it('shares its parts with its children, which keep their own apart', () => {
    let made = 0;
    const parent = Container.create<Pick<Parts, 'text'>>({ text: () => ({ text: `text ${++made}` }) });
    const [one, two] = ['one', 'two'].map(
      (word) =>
        parent.child<Pick<Parts, 'word' | 'length'>>({
          word: () => word,
          length: (parts) => parts.word.length + parts.text.text.length,
        }).parts,
    );
    expect([one!.word, two!.word, one!.length]).toEqual(['one', 'two', 9]);
    expect([one!.text === two!.text, one!.text === parent.parts.text]).toEqual([true, true]);
  });

  it('names what is missing', () => {
    const incomplete = { text: providers.text } as typeof providers;
    expect(() => Container.create<Parts>(incomplete).parts.text).toThrow(/word/);
  });

  it('is checked by the compiler', () => {
    // @ts-expect-error a word is no number
    const wrong = { ...providers, length: ({ word }: Parts) => word } satisfies typeof providers;
    // @ts-expect-error there is no text
    Container.create<Parts>({ word: () => 'four', length: () => 4, nothing: () => undefined });
    // @ts-expect-error a number has no length
    Container.create<Parts>({ ...providers, length: ({ length }) => length.length });
    expect(wrong).toBeDefined();
  });
});
