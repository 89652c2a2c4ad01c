import { expect } from 'expect';
import { rename } from 'node:fs/promises';
import { after, beforeEach, describe, it } from 'node:test';
import { IpSetRejectedError, type IpSetStep } from '../../../../src/adapters/ipset/ip-sets.js';
import {
  ToolFailedError,
  ToolMissingError,
  ToolPermissionError,
} from '../../../../src/adapters/tool-programs.js';
import { IpSetTool } from '../../../../src/adapters/ipset/ipset-tool.js';
import type { IpSetHeader, IpSetType } from '../../../../src/domain/ipvs/ip-set.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { asNobody, linesOf, tool } from './tool.js';

const set = (name: string, type: IpSetType, family: IpFamily = 'IPv4'): IpSetHeader => ({
  name,
  type,
  family,
});
const create = (header: IpSetHeader): IpSetStep => ({ kind: 'create', set: header });
const add = (name: string, member: string): IpSetStep => ({ kind: 'add', set: name, member });
const remove = (name: string, member: string): IpSetStep => ({ kind: 'delete', set: name, member });

const services = set('SERVICES', 'hash:ip,port');
const addresses = set('ADDRESSES', 'hash:ip');

/** What the kernel has, less what it draws by lot. */
const saved = async (): Promise<readonly string[]> =>
  linesOf((await tool('ipset', 'save')).replace(/ bucketsize \d+ initval \S+/g, ''));

describe('IP sets', () => {
  const sets = new IpSetTool();
  beforeEach(() => tool('ipset', 'destroy'));
  after(() => sets.close());

  const done = async (...steps: IpSetStep[]): Promise<void> => {
    expect(await sets.restore(steps)).toEqual(steps.map(() => undefined));
  };
  const refusals = async (...steps: IpSetStep[]): Promise<readonly (string | undefined)[]> =>
    (await sets.restore(steps)).map((outcome) =>
      outcome instanceof IpSetRejectedError ? outcome.reason : outcome?.message,
    );

  it('come with a tool that prints its version', async () => {
    expect(await sets.version()).toMatch(/^\d+\.\d+$/);
  });

  it('are what ipset shows, of all types, in both families', async () => {
    await done(
      create(services),
      create(addresses),
      create(set('HAIRPIN', 'hash:ip,port,ip', 'IPv6')),
      create(set('RANGES', 'hash:ip,port,net')),
      create(set('PORTS', 'bitmap:port')),
      ...['10.96.0.1,tcp:80', '10.96.0.1,udp:53', '10.96.0.1,sctp:132'].map((m) => add('SERVICES', m)),
      add('ADDRESSES', '10.96.0.1'),
      add('HAIRPIN', 'fd00::5,tcp:80,fd00::5'),
      ...['192.0.2.0/24', '192.0.2.1', '0.0.0.0/1'].map((net) => add('RANGES', `10.96.0.1,tcp:80,${net}`)),
      add('PORTS', '30080'),
    );
    expect(await saved()).toEqual(
      [
        'create SERVICES hash:ip,port family inet hashsize 1024 maxelem 65536',
        'create ADDRESSES hash:ip family inet hashsize 1024 maxelem 65536',
        'create HAIRPIN hash:ip,port,ip family inet6 hashsize 1024 maxelem 65536',
        'create RANGES hash:ip,port,net family inet hashsize 1024 maxelem 65536',
        'create PORTS bitmap:port range 0-65535',
        'add SERVICES 10.96.0.1,tcp:80',
        'add SERVICES 10.96.0.1,udp:53',
        'add SERVICES 10.96.0.1,sctp:132',
        'add ADDRESSES 10.96.0.1',
        'add HAIRPIN fd00::5,tcp:80,fd00::5',
        'add RANGES 10.96.0.1,tcp:80,192.0.2.0/24',
        'add RANGES 10.96.0.1,tcp:80,192.0.2.1',
        'add RANGES 10.96.0.1,tcp:80,0.0.0.0/1',
        'add PORTS 30080',
      ].sort(),
    );
  });

  it('are read as they were written, those that are named and no others', async () => {
    const hairpin = set('HAIRPIN', 'hash:ip,port,ip', 'IPv6');
    await done(
      create(services),
      create(hairpin),
      create(addresses),
      add('SERVICES', '10.96.0.1,tcp:80'),
      add('SERVICES', '10.96.0.2,sctp:80'),
      add('HAIRPIN', 'fd00::5,udp:53,fd00::5'),
    );
    const { sets: found, foreign } = await sets.read(new Set(['SERVICES', 'HAIRPIN', 'NONE']));
    expect([...found].sort((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
      { ...hairpin, members: new Set(['fd00::5,udp:53,fd00::5']) },
      { ...services, members: new Set(['10.96.0.1,tcp:80', '10.96.0.2,sctp:80']) },
    ]);
    expect(foreign).toEqual([]);
  });

  it('of others with our names are told apart', async () => {
    await tool('ipset', 'create', 'SERVICES', 'hash:net');
    await tool('ipset', 'create', 'ADDRESSES', 'hash:ip', 'timeout', '5');
    await tool('ipset', 'create', 'PORTS', 'bitmap:port', 'range', '0-1000');
    const { sets: found, foreign } = await sets.read(new Set(['SERVICES', 'ADDRESSES', 'PORTS']));
    expect(found).toEqual([]);
    const descriptions = Object.fromEntries(foreign.map(({ name, description }) => [name, description]));
    expect(descriptions).toEqual({
      SERVICES: expect.stringMatching(/^hash:net family inet /),
      ADDRESSES: expect.stringMatching(/^hash:ip family inet .* timeout 5/),
      PORTS: 'bitmap:port range 0-1000',
    });
    expect(await refusals(create(services), create(set('OTHER', 'hash:ip')))).toEqual([
      'Set cannot be created: set with the same name already exists',
      undefined,
    ]);
  });

  it('accept steps that are done already', async () => {
    await done(create(addresses), add('ADDRESSES', '10.0.0.1'), add('ADDRESSES', '10.0.0.2'));
    await done(
      create(addresses),
      add('ADDRESSES', '10.0.0.1'),
      remove('ADDRESSES', '10.0.0.2'),
      remove('ADDRESSES', '10.0.0.3'),
      { kind: 'destroy', set: 'NONE' },
    );
    expect(await saved()).toEqual([
      'add ADDRESSES 10.0.0.1',
      'create ADDRESSES hash:ip family inet hashsize 1024 maxelem 65536',
    ]);
    await done({ kind: 'destroy', set: 'ADDRESSES' });
    expect(await saved()).toEqual([]);
  });

  it('take all members except refused ones, whether the tool or the kernel rejects them', async () => {
    const wholeNet = 'The value of the CIDR parameter of the IP address is invalid';
    expect(
      await refusals(
        create(services),
        create(set('RANGES', 'hash:ip,port,net')),
        add('SERVICES', '10.0.0.1,tcp:80'),
        add('SERVICES', '10.0.0.2,tcp:nonsense'),
        add('SERVICES', '10.0.0.3,tcp:80'),
        add('RANGES', '10.0.0.1,tcp:80,10.0.0.0/8'),
        add('RANGES', '10.0.0.1,tcp:80,0.0.0.0/0'),
        add('SERVICES', 'fd00::1,tcp:80'),
        add('NONE', '10.0.0.1'),
        add('SERVICES', '10.0.0.4,tcp:80'),
        remove('SERVICES', '10.0.0.1,tcp:80'),
      ),
    ).toEqual([
      undefined,
      undefined,
      undefined,
      expect.stringMatching(/'nonsense' is invalid as number/),
      undefined,
      undefined,
      wholeNet,
      expect.stringMatching(/resolving to IPv4 address failed/),
      'The set with the given name does not exist',
      undefined,
      undefined,
    ]);
    expect((await saved()).filter((line) => line.startsWith('add'))).toEqual([
      'add RANGES 10.0.0.1,tcp:80,10.0.0.0/8',
      'add SERVICES 10.0.0.3,tcp:80',
      'add SERVICES 10.0.0.4,tcp:80',
    ]);
  });

  it('that are full refuse the rest at once', async () => {
    await tool('ipset', 'create', 'SMALL', 'hash:ip', 'maxelem', '3');
    const members = Array.from({ length: 200 }, (_, i) => add('SMALL', `10.0.0.${i + 1}`));
    const outcomes = await refusals(create(addresses), ...members, add('ADDRESSES', '10.0.0.1'));
    expect(outcomes.slice(0, 4)).toEqual([undefined, undefined, undefined, undefined]);
    expect(new Set(outcomes.slice(4, -1))).toEqual(new Set(['Hash is full, cannot add more elements']));
    expect(outcomes.at(-1)).toBeUndefined();
    expect((await saved()).filter((line) => line.startsWith('add'))).toHaveLength(4);
  });

  it('are not destroyed while rules need them', async () => {
    await done(create(addresses));
    await tool(
      'iptables-legacy',
      '-A',
      'INPUT',
      '-m',
      'set',
      '--match-set',
      'ADDRESSES',
      'dst',
      '-j',
      'DROP',
    );
    expect(await refusals({ kind: 'destroy', set: 'ADDRESSES' })).toEqual([
      'Set cannot be destroyed: it is in use by a kernel component',
    ]);
    await tool('iptables-legacy', '-F', 'INPUT');
  });

  it('need no /etc/protocols', async () => {
    await rename('/etc/protocols', '/etc/protocols-away');
    try {
      const members = ['10.96.0.1,tcp:80', '10.96.0.1,udp:53', '10.96.0.1,sctp:132'];
      await done(create(services), ...members.map((member) => add('SERVICES', member)));
      const [found] = (await sets.read(new Set(['SERVICES']))).sets;
      expect(found!.members).toEqual(new Set(members));
    } finally {
      await rename('/etc/protocols-away', '/etc/protocols');
    }
  });

  it('take ten thousand members at once', async () => {
    const members = Array.from({ length: 10_000 }, (_, i) => add('ADDRESSES', `10.1.${i >> 8}.${i & 255}`));
    await done(create(addresses), ...members);
    expect((await sets.read(new Set(['ADDRESSES']))).sets[0]!.members.size).toBe(10_000);
  });

  it('belong to root', async () => {
    await asNobody(async () => {
      await expect(sets.read(new Set())).rejects.toThrow(ToolPermissionError);
      await expect(sets.restore([create(addresses)])).rejects.toThrow(ToolPermissionError);
    });
  });

  it('need a tool', async () => {
    const usual = process.env.PATH;
    process.env.PATH = '/nowhere';
    try {
      await expect(sets.version()).rejects.toThrow(ToolMissingError);
      await expect(sets.restore([create(addresses)])).rejects.toThrow('install the package ipset');
    } finally {
      process.env.PATH = usual;
    }
    await expect(new IpSetTool({ launcher: ['env', '-i', 'PATH=/nowhere'] }).version()).rejects.toThrow(
      ToolMissingError,
    );
  });

  it('are unavailable after closing, or when aborted', async () => {
    await expect(sets.read(new Set(), AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    const closed = new IpSetTool();
    closed.close();
    await expect(closed.restore([create(addresses)])).rejects.toThrow(ToolFailedError);
  });
});
