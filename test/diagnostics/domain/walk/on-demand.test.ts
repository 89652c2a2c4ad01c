import { OnDemand, walkUntilKnown } from '../../../../src/diagnostics/domain/walk/on-demand.js';

describe('a walk that looks things up', () => {
  it('is repeated until nothing is wanted that was not read, and reads each thing once', async () => {
    const read: string[] = [];
    const next = new OnDemand((name: string) => {
      read.push(name);
      return Promise.resolve({ a: 'b', b: 'c' }[name]);
    });
    const walk = (): readonly (string | undefined)[] => {
      const [first, second] = ['a', next.find('a')];
      return [first, second, second && next.find(second), second && next.find('a')];
    };
    expect(await walkUntilKnown(walk, next)).toEqual(['a', 'b', 'c', 'b']);
    expect(read).toEqual(['a', 'b']);
  });

  it('knows nothing and wants nothing where nothing can be read', async () => {
    const nothing = new OnDemand<string, string>(undefined);
    expect(await walkUntilKnown(() => nothing.find('a'), nothing)).toBeUndefined();
  });

  it('gives up where it wants ever more', async () => {
    const numbers = new OnDemand((number: number) => Promise.resolve(number));
    let number = 0;
    await expect(walkUntilKnown(() => numbers.find(++number), numbers)).rejects.toThrow('without an end');
  });
});
