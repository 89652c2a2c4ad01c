import {
  chooseVariant,
  program,
  legacyTables,
  VariantMix,
  rulesOfOtherVariant,
} from '../../../src/adapters/iptables/variants.js';
import { ToolMissingError } from '../../../src/adapters/tool-programs.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';

const VERSIONS = {
  'iptables-nft --version': 'iptables v1.8.9 (nf_tables)\n',
  'iptables-legacy --version': 'iptables v1.8.9 (legacy)\n',
};
const mangle = (chain: string) => `*mangle\n:PREROUTING ACCEPT [0:0]\n:${chain} - [0:0]\nCOMMIT\n`;

/**
 * A host that answers these commands; others do not exist, or fail so that a table that is there cannot be read. A restore of iptables-nft
 * complains of this. The tables of IPv4 are told as `tables`, programs that do not exist as `missing`.
 */
function host(answers: Readonly<Record<string, string>>, complaint?: string) {
  return {
    complaint: (name: string, parameters: readonly string[]) =>
      Promise.resolve(
        [name, ...parameters].join(' ') === 'unshare --net iptables-nft-restore --noflush'
          ? complaint
          : undefined,
      ),
    output: (name: string, parameters: readonly string[], isThere = false) => {
      const answer = answers[[name, ...parameters].join(' ')];
      const fails = isThere && parameters[0] !== '--version' && name !== answers.missing;
      return answer === undefined && fails
        ? Promise.reject(new Error(`${name} failed`))
        : Promise.resolve(answer);
    },
    legacyTables: (family: IpFamily) => (family === 'IPv4' ? answers.tables?.split(' ') : undefined),
  };
}

describe('chooseVariant', () => {
  it.each([
    [
      'nft',
      { 'iptables-nft -t mangle -S KUBE-IPTABLES-HINT': '-N KUBE-IPTABLES-HINT\n' },
      'chain KUBE-IPTABLES-HINT exists',
    ],
    [
      'nft',
      { 'ip6tables-nft -t mangle -S KUBE-KUBELET-CANARY': '-N KUBE-KUBELET-CANARY\n' },
      'chain KUBE-KUBELET-CANARY exists',
    ],
    [
      'legacy',
      {
        tables: 'nat mangle',
        'iptables-legacy-save -t mangle': mangle('KUBE-KUBELET-CANARY'),
      },
      'chain KUBE-KUBELET-CANARY exists',
    ],
    ['legacy', { 'iptables-legacy-save': mangle('KUBE-KUBELET-CANARY') }, 'chain KUBE-KUBELET-CANARY exists'],
    [
      'nft',
      {
        tables: 'nat',
        'iptables-legacy-save': '*nat\nCOMMIT\n',
        'iptables-legacy-save -t mangle': mangle('KUBE-KUBELET-CANARY'),
      },
      'no sign of either',
    ],
    [
      'legacy',
      {
        'iptables-nft-save': '*filter\n-A INPUT -j ACCEPT\nCOMMIT\n',
        'iptables-legacy-save': '*filter\n-A INPUT -j ACCEPT\n-A INPUT -j DROP\nCOMMIT\n',
      },
      'it has more rules (2 versus 1)',
    ],
    [
      'legacy',
      {
        'iptables-nft-save': '*filter\n-A INPUT -j ACCEPT\nCOMMIT\n',
        'iptables-legacy-save': '*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n',
        'ip6tables-legacy-save': '*filter\n-A INPUT -j ACCEPT\n-A INPUT -j DROP\nCOMMIT\n',
      },
      'it has more rules (2 versus 1)',
    ],
    [
      'nft',
      {
        'ip6tables-nft-save': '*filter\n-A INPUT -j ACCEPT\n-A INPUT -j DROP\nCOMMIT\n',
        'iptables-legacy-save': '*filter\n-A INPUT -j ACCEPT\nCOMMIT\n',
      },
      'no sign of either',
    ],
    ['nft', { 'iptables-legacy-save': '*nat\n:KUBE-IPTABLES-HINT - [0:0]\nCOMMIT\n' }, 'no sign of either'],
  ])('finds %s by what is there', async (variant, saved, reason) => {
    expect(await chooseVariant(host({ ...VERSIONS, ...saved }))).toMatchObject({
      variant,
      prefix: `iptables-${variant}`,
      version: '1.8.9',
      reason,
    });
  });

  const noNat =
    'iptables-restore v1.8.9 (nf_tables): \nline 1: CHAIN_ADD failed (No such file or directory)\n';

  it('does not take iptables-nft where that cannot write rules of table nat', async () => {
    expect(await chooseVariant(host(VERSIONS, noNat))).toMatchObject({
      variant: 'legacy',
      reason: 'iptables-nft cannot write to table nat: line 1: CHAIN_ADD failed (No such file or directory)',
    });
  });

  it('tries that again before it believes it', async () => {
    const complaints = [noNat];
    const trial = { ...host(VERSIONS), complaint: () => Promise.resolve(complaints.shift()) };
    expect(await chooseVariant(trial)).toMatchObject({ variant: 'nft' });
  });

  it.each([
    ['where it cannot be tried', VERSIONS, 'unshare: unshare failed: Operation not permitted\n'],
    [
      'where the node uses it all the same',
      { ...VERSIONS, 'iptables-nft -t mangle -S KUBE-IPTABLES-HINT': '-N KUBE-IPTABLES-HINT\n' },
      noNat,
    ],
    ['where there is no other', { 'iptables-nft --version': 'iptables v1.8.9 (nf_tables)\n' }, noNat],
  ])('takes iptables-nft %s', async (_, answers, complaint) => {
    expect(await chooseVariant(host(answers, complaint))).toMatchObject({ variant: 'nft' });
  });

  it.each(['mangle', 'nat'])('does not choose where table %s is there and cannot be read', async (tables) => {
    await expect(chooseVariant(host({ ...VERSIONS, tables }))).rejects.toThrow('iptables-legacy-save failed');
  });

  it.each(['mangle', 'nat'])('nor where only what would read table %s is missing', async (tables) => {
    const missing = 'iptables-legacy-save';
    await expect(chooseVariant(host({ ...VERSIONS, tables, missing }))).rejects.toThrow(ToolMissingError);
  });

  it('does without a family that has no tools of iptables-legacy', async () => {
    const ipv6Only = { ...host({ ...VERSIONS, missing: 'ip6tables-legacy-save' }), legacyTables };
    expect(await chooseVariant(ipv6Only)).toMatchObject({ variant: 'nft', reason: 'no sign of either' });
    function legacyTables(family: IpFamily) {
      return family === 'IPv6' ? ['mangle'] : [];
    }
  });

  it('does as it is told', async () => {
    const saved = { 'iptables-nft -t mangle -S KUBE-IPTABLES-HINT': '-N KUBE-IPTABLES-HINT\n' };
    expect(await chooseVariant(host({ ...VERSIONS, ...saved }), 'legacy')).toMatchObject({
      variant: 'legacy',
      reason: 'configured',
    });
  });

  it.each([
    ['iptables v1.8.7 (nf_tables)', 'nft', '1.8.7'],
    ['iptables v1.8.7 (legacy)', 'legacy', '1.8.7'],
    ['iptables v1.6.1', 'legacy', '1.6.1'],
  ])('takes a plain iptables for what it says: %s', async (text, variant, version) => {
    expect(await chooseVariant(host({ 'iptables --version': text }))).toEqual({
      variant,
      prefix: 'iptables',
      version,
      reason: 'the only one installed',
    });
  });

  it('finds nothing where there is nothing, or not what was asked for', async () => {
    expect(await chooseVariant(host({}))).toBeUndefined();
    expect(
      await chooseVariant(host({ 'iptables --version': 'iptables v1.8.9 (nf_tables)' }), 'legacy'),
    ).toBeUndefined();
  });
});

it('names the programs of both families', () => {
  expect(program('iptables-nft', 'IPv6', 'restore')).toBe('ip6tables-nft-restore');
  expect(program('iptables-legacy', 'IPv4', 'save')).toBe('iptables-legacy-save');
  expect(program('iptables', 'IPv6')).toBe('ip6tables');
});

describe('the tables of ip_tables', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'kptables-'))));
  afterEach(() => rm(folder, { recursive: true }));

  it('are those that the kernel lists for the family', async () => {
    await writeFile(join(folder, 'ip_tables_names'), 'nat\nmangle\n');
    await writeFile(join(folder, 'ip6_tables_names'), '');
    expect(legacyTables('IPv4', folder)).toEqual(['nat', 'mangle']);
    expect(legacyTables('IPv6', folder)).toEqual([]);
  });

  it('are none where the kernel has no ip_tables', () => {
    expect(legacyTables('IPv4', folder)).toEqual([]);
  });

  it('cannot be told where the list cannot be read', async () => {
    await mkdir(join(folder, 'ip_tables_names'));
    expect(legacyTables('IPv4', folder)).toBeUndefined();
  });
});

it('looks when it is asked, but not all the time', async () => {
  const clock = new FakeClock(0);
  let looks = 0;
  const mix = new VariantMix(() => Promise.resolve([`look ${++looks}`]), clock);
  expect(mix.current).toEqual([]);
  await mix.renew();
  clock.advance(9_999);
  await mix.renew();
  expect(mix.current).toEqual(['look 1']);
  clock.advance(1);
  await mix.renew();
  expect(mix.current).toEqual(['look 2']);
});

interface Signs {
  readonly tables?: Partial<Record<IpFamily, readonly string[] | undefined>>;
  readonly saved?: Readonly<Record<string, string | Error>>;
  readonly nft?: Partial<Record<IpFamily, readonly string[]>>;
}

/** Without rules but for these. */
const signs = ({ tables = {}, saved = {}, nft = {} }: Signs) => ({
  legacyTables: (family: IpFamily) => (family in tables ? tables[family] : []),
  output(name: string): Promise<string | undefined> {
    const text = saved[name];
    return text instanceof Error ? Promise.reject(text) : Promise.resolve(text);
  },
  nftTables: (family: IpFamily) => Promise.resolve(nft[family] ?? []),
});
const empty = '*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n';
const full = `${empty}*nat\n:DOCKER - [0:0]\n-A DOCKER -j RETURN\nCOMMIT\n`;

describe('rulesOfOtherVariant', () => {
  it.each<[string, 'nft' | 'legacy', Signs]>([
    ['nothing was written', 'nft', {}],
    [
      'tables of iptables-legacy are empty',
      'nft',
      { tables: { IPv4: ['filter'] }, saved: { 'iptables-legacy-save': empty } },
    ],
    [
      'only what is used here has rules',
      'legacy',
      { tables: { IPv4: ['nat'] }, saved: { 'iptables-legacy-save': full } },
    ],
    [
      'tables of nf_tables are not those of iptables',
      'legacy',
      { nft: { IPv4: ['kube-proxy', 'firewalld'] } },
    ],
    ['only what is used here has rules', 'nft', { nft: { IPv4: ['nat'] } }],
    ['nobody can tell', 'nft', { tables: { IPv4: undefined } }],
  ])('finds none where %s (iptables-%s)', async (_, used, present) => {
    expect(await rulesOfOtherVariant(used, signs(present))).toEqual([]);
  });

  it.each<[string, 'nft' | 'legacy', Signs]>([
    [
      'with iptables-nft, and there are rules of iptables-legacy (IPv4: in nat)',
      'nft',
      { tables: { IPv4: ['filter', 'nat'] }, saved: { 'iptables-legacy-save': full } },
    ],
    [
      'rules of iptables-legacy (IPv4: in nat; IPv6: tables filter, perhaps empty: ip6tables-legacy-save cannot be run',
      'nft',
      { tables: { IPv4: undefined, IPv6: ['filter'] }, saved: { 'iptables-legacy-save': full } },
    ],
    [
      'rules of iptables-legacy (IPv6: unknown, since the lock is held)',
      'nft',
      { tables: { IPv6: ['filter'] }, saved: { 'ip6tables-legacy-save': new Error('the lock is held') } },
    ],
    [
      'with iptables-legacy, and there are rules of iptables-nft (IPv4: in nat, filter; IPv6: in mangle)',
      'legacy',
      { nft: { IPv4: ['filter', 'mine', 'nat'], IPv6: ['mangle'] } },
    ],
  ])('tells: %s', async (text, used, present) => {
    expect(await rulesOfOtherVariant(used, signs(present))).toEqual([expect.stringContaining(text)]);
  });
});
