import { PresenceTable } from '../../../src/adapters/ipvs/presence-table.js';

describe('a step that the tool says has failed', () => {
  let refusal: Error | undefined;
  let taken: string[];
  let table: PresenceTable<string>;
  beforeEach(() => {
    refusal = undefined;
    taken = [];
    table = new PresenceTable((kind, things) => {
      taken.push(...things.map((what) => `${kind} ${what}`));
      return Promise.resolve(things.map(() => refusal));
    });
    table.found(['old']);
  });

  const whileRefused = async (change: () => Promise<unknown>): Promise<void> => {
    refusal = new Error('killed');
    await change();
    refusal = undefined;
    taken.length = 0;
  };

  it('was to add: it may be there, and is removed when nobody wants it', async () => {
    await whileRefused(() => table.add(['new']));
    expect(table.has('new')).toBe(true);
    expect(await table.remove()).toEqual({ written: 2, refused: [] });
    expect(taken).toEqual(['remove old', 'remove new']);
    expect(table.all()).toEqual([]);
  });

  it('was to remove: it may be gone, and is added when somebody wants it', async () => {
    await whileRefused(() => table.remove(['old']));
    expect(table.has('old')).toBe(true);
    await table.add(['old']);
    await table.add(['old']);
    expect(taken).toEqual(['add old']);
  });

  it('is certain once the kernel has been read', async () => {
    await whileRefused(() => table.add(['new']));
    table.found(['old']);
    await table.remove(['new']);
    expect(taken).toEqual([]);
  });
});
