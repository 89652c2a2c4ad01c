import {
  IptablesKernelError,
  IptablesTemporaryError,
  RestoreRejectedError,
  XtablesLockedError,
} from '../../../src/adapters/iptables/iptables-commands.js';
import { ToolFailedError, ToolMissingError } from '../../../src/adapters/tool-programs.js';
import { Place } from './place.js';

const VARIANTS = ['legacy', 'nft'] as const;

describe.each(VARIANTS)('the program’s tool with simulated iptables-%s', (variant) => {
  let place: Place;
  beforeEach(() => (place = new Place(variant)));

  it('finds the programs, and the matches that the kernel lacks', async () => {
    expect(await place.tool().identify()).toMatchObject({ variant, version: '1.8.9', randomFully: true });
    expect(await place.tool().lackingMatches('IPv4')).toEqual([]);
    place.programs.traits.missingExtensions.add('statistic').add('recent');
    expect(await place.tool().lackingMatches('IPv4')).toEqual(['statistic', 'recent']);
    for (const program of ['iptables', 'iptables-nft', 'iptables-legacy'])
      place.programs.faults.missing.add(program);
    await expect(place.tool().identify()).rejects.toThrow(ToolMissingError);
  });

  it('writes rules, lists them and saves them', async () => {
    const tool = place.tool();
    const outcome = await tool.restore('IPv4', [
      '*nat\n:A - [0:0]\n',
      '-A A -d 10.0.0.1 -p tcp -m tcp --dport 80 -j RETURN\nCOMM',
      'IT\n',
    ]);
    expect(outcome).toEqual({ lockWaitSeconds: 0, generations: variant === 'nft' ? [2] : undefined });
    const rule = '-d 10.0.0.1/32 -p tcp -m tcp --dport 80 -j RETURN';
    expect(await tool.listChain('IPv4', 'nat', 'A')).toEqual([rule]);
    expect(await tool.listChain('IPv4', 'nat', 'B')).toBeUndefined();
    const saved = await tool.save('IPv4');
    expect(saved.find(({ name }) => name === 'nat')?.chains.at(-1)).toEqual({
      name: 'A',
      policy: undefined,
      rules: [rule],
    });
    expect(saved).toEqual(
      place.programs.tables('IPv4', variant).map(({ name, chains }) => ({
        name,
        chains: chains.map(({ name: chain, policy, rules }) => ({ name: chain, policy, rules })),
      })),
    );
    expect(await tool.save('IPv6')).toEqual([]);
  });

  it('is told the line that is wrong, and the commits before it stand', async () => {
    const tool = place.tool();
    const input = ['*filter\n:A - [0:0]\nCOMMIT\n*nat\n:A - [0:0]\n-A A -d 10.0.0.999 -j RETURN\nCOMMIT\n'];
    const refused = await tool.restore('IPv4', input).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RestoreRejectedError);
    expect(refused).toMatchObject({ failures: [{ line: 6, reason: "host/network `10.0.0.999' not found" }] });
    expect(await tool.listChain('IPv4', 'filter', 'A')).toEqual([]);
    expect(await tool.listChain('IPv4', 'nat', 'A')).toBeUndefined();
  });

  it('knows a kernel without this variant', async () => {
    place.programs.faults.unsupported.add(variant);
    expect(await place.tool().problem('IPv4')).toContain('does not support this variant');
    await expect(place.tool().restore('IPv4', ['*nat\nCOMMIT\n'])).rejects.toThrow(IptablesKernelError);
  });

  it('knows failures of the moment', async () => {
    const { faults } = place.programs;
    faults.fail({
      of: 'restore',
      exitCode: 4,
      stderr: 'iptables-restore: line 5 failed\n',
      when: 'before',
      times: 1,
    });
    await expect(place.tool().restore('IPv4', ['*nat\n:A - [0:0]\nCOMMIT\n'])).rejects.toThrow(
      IptablesTemporaryError,
    );
    expect(place.programs.tables('IPv4', variant)).toEqual([]);
    faults.trouble({ of: 'restore', killedAfter: 1, times: 1 });
    await expect(place.tool().restore('IPv4', ['*nat\n:A - [0:0]\nCOMMIT\n'])).rejects.toThrow(
      ToolFailedError,
    );
    faults.trouble({ of: 'save', killedAtOutput: 3, times: 1 });
    await place.tool().restore('IPv4', ['*nat\n:A - [0:0]\nCOMMIT\n']);
    await expect(place.tool().save('IPv4')).rejects.toThrow('Command was killed with SIGKILL');
  });

  it('ends what runs when it is closed', async () => {
    place.programs.faults.trouble({ of: 'save', hangs: 60_000, times: 1 });
    const tool = place.tool();
    await tool.identify();
    const saving = expect(tool.save('IPv4')).rejects.toThrow('Command was canceled');
    setImmediate(() => tool.close());
    await saving;
    expect(place.children.every(({ hasEnded }) => hasEnded)).toBe(true);
    expect(place.children.filter(({ givenUpAt }) => givenUpAt !== undefined)).toHaveLength(1);
  });
});

describe('simulated iptables-legacy', () => {
  it('waits for the lock, and gives it back', async () => {
    const place = new Place('legacy');
    const somebody = {};
    place.programs.lock.take(somebody);
    const restored = place.tool().restore('IPv4', ['*nat\n:A - [0:0]\nCOMMIT\n']);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(place.programs.tables('IPv4', 'legacy')).toEqual([]);
    place.programs.lock.release(somebody);
    await restored;
    expect(place.programs.lock.isFree).toBe(true);
    expect(place.programs.legacyTableNames('IPv4')).toBe('nat\n');
  });

  it('does not wait longer than it may', async () => {
    const place = new Place('legacy');
    place.programs.lock.take({});
    const result = place.programs.run(['iptables-legacy-restore', '-w', '5'], '*nat\nCOMMIT\n');
    expect(result).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('Stopped waiting after 5s'),
    });
    const impatient = place.programs.run(['iptables-legacy', '-t', 'nat', '-F']);
    expect(impatient).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('use the -w option') });
    expect(place.programs.tables('IPv4', 'legacy')).toEqual([]);
    await expect(lockedTool(place)).rejects.toThrow(XtablesLockedError);
  });
});

/** Its own lock is free, and the one that the tool takes is not. */
function lockedTool(place: Place): Promise<unknown> {
  place.programs.faults.fail({
    of: 'restore',
    exitCode: 4,
    stderr: 'Another app is currently holding the xtables lock. Stopped waiting after 5s.\n',
    when: 'before',
    times: 1,
  });
  return place.tool().restore('IPv4', ['*nat\nCOMMIT\n']);
}

describe('a child whose parent ends', () => {
  const INPUT = '*filter\n:A - [0:0]\nCOMMIT\n*nat\n:A - [0:0]\nCOMMIT\n';

  it.each([
    ['finishes what it was given', 'abandon', ['filter', 'nat']],
    ['or is killed with it', 'kill', []],
  ] as const)('%s', async (_, how, tables) => {
    const place = new Place('nft');
    const tool = place.tool();
    await tool.identify();
    void tool.restore('IPv4', [INPUT]).catch(() => undefined);
    while (place.children.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const child = place.children.at(-1)!;
    while (!child.hasInput) await new Promise((resolve) => setImmediate(resolve));
    child[how]();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(place.programs.tables('IPv4', 'nft').map(({ name }) => name)).toEqual(tables);
    expect(child.hasEnded).toBe(true);
  });
});
