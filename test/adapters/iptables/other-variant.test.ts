import { rulesOfOtherVariant } from '../../../src/adapters/iptables/variants.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

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
      'rules of iptables-legacy (IPv4: in nat; IPv6: tables filter, perhaps empty: ip6tables-legacy-save would tell',
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
