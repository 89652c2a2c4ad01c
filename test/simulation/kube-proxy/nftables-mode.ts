import { nftFamily } from '../../../src/domain/nftables/layout/table.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { ExpectedEndpoint, ExpectedFrontend } from '../checks/expected-ports.js';
import { IPPROTO } from '../kernel/conntrack/ctnetlink.js';
import { addressBytes } from '../kernel/netlink/addresses.js';
import type { Machine } from '../kernel/machine.js';
import { ForeignBatch, type RawAttributes, type RawExpression } from '../kernel/nf-tables/foreign-batch.js';
import {
  DATA,
  DATA_VERDICT,
  ELEMENT,
  FAMILY,
  SET_FLAG,
  VERDICT,
  VERDICT_CODE,
  VERDICT_LENGTH,
} from '../kernel/nf-tables/numbers.js';
import type { Table } from '../kernel/nf-tables/objects.js';
import { ADDRESSES } from '../world/settings.js';
import * as nft from './nft-rules.js';
import { STRANGER } from '../steps/foreign/deed.js';
import { hashOf, type KubeProxyMode, type ServedPort } from './kube-proxy-mode.js';

const TABLE = 'kube-proxy';
const HASH = 8;
/** Of nft: addresses, protocols, ports; those that follow one another have six bits each. */
const TYPE = { IPv4: 7, IPv6: 8, PROTOCOL: 12, PORT: 13 } as const;
const BITS = 6;
const WORD = 4;
const ADDRESS_LENGTH = { IPv4: 4, IPv6: 16 } as const;

const HOOK = { PREROUTING: 0, INPUT: 1, FORWARD: 2, OUTPUT: 3, POSTROUTING: 4 } as const;
const BASE_CHAINS = [
  ['filter-prerouting-pre-dnat', 'filter', HOOK.PREROUTING, -110],
  ['filter-output-pre-dnat', 'filter', HOOK.OUTPUT, -110],
  ['filter-input', 'filter', HOOK.INPUT, 0],
  ['filter-forward', 'filter', HOOK.FORWARD, 0],
  ['filter-output', 'filter', HOOK.OUTPUT, 0],
  ['nat-prerouting', 'nat', HOOK.PREROUTING, -100],
  ['nat-output', 'nat', HOOK.OUTPUT, -100],
  ['nat-postrouting', 'nat', HOOK.POSTROUTING, 100],
] as const;
/** From where to where, and whether only new connections are led there. */
const JUMPS = [
  ['filter-input', 'nodeport-endpoints-check', true],
  ['filter-input', 'service-endpoints-check', true],
  ['filter-forward', 'service-endpoints-check', true],
  ['filter-output', 'service-endpoints-check', true],
  ['filter-prerouting-pre-dnat', 'firewall-check', true],
  ['filter-output-pre-dnat', 'firewall-check', true],
  ['nat-output', 'services', false],
  ['nat-prerouting', 'services', false],
  ['nat-postrouting', 'masquerading', false],
  ['filter-forward', 'cluster-ips-check', true],
  ['filter-output', 'cluster-ips-check', true],
] as const;
const REJECTING = 'reject-chain';
const AFFINITY = 'affinity-';

const FRONTEND = ['ADDRESS', 'PROTOCOL', 'PORT'] as const;
const NODE_PORT = ['PROTOCOL', 'PORT'] as const;
/** The fields of the keys of sets. */
const SETS = {
  'hairpin-connections': ['ADDRESS', ...FRONTEND],
  'cluster-ips': ['ADDRESS'],
  'nodeport-ips': ['ADDRESS'],
} as const;
/** The fields of the keys of maps to verdicts. */
const MAPS = {
  'service-ips': FRONTEND,
  'no-endpoint-services': FRONTEND,
  'firewall-ips': FRONTEND,
  'service-nodeports': NODE_PORT,
  'no-endpoint-nodeports': NODE_PORT,
} as const;
type ElementsOf = keyof typeof SETS | keyof typeof MAPS;
const VERDICTS = { type: DATA_VERDICT, length: VERDICT_LENGTH };

/** One transaction that writes the whole table of a family (docs/internals/spec/nftables.md §3 to §8). */
class NftablesTable {
  private readonly elements = new Map<ElementsOf, RawAttributes[]>();
  private readonly chains = new Set<string>();
  private readonly affinities = new Set<string>();

  /** @param present what is there of it */
  constructor(
    private readonly batch: ForeignBatch,
    private readonly family: IpFamily,
    private readonly present: Table | undefined,
  ) {}

  /**
   * Puts everything into the batch, as at a start.
   * @returns chains that are empty now, and may go with a later transaction
   */
  write(
    ports: readonly ServedPort[],
    nodeAddresses: readonly string[],
    localNetwork: string,
  ): readonly string[] {
    this.base();
    this.shared(nodeAddresses, localNetwork);
    for (const port of ports) this.port(port);
    const stale = [...(this.present?.chains.keys() ?? [])].filter(
      (chain) => chain.includes('/') && !this.chains.has(chain),
    );
    for (const [set, elements] of this.elements) {
      this.batch.deleteElements(set);
      if (elements.length > 0) this.batch.addElements(set, elements);
    }
    for (const chain of stale) this.batch.flush(chain);
    for (const set of this.present?.sets.keys() ?? [])
      if (set.startsWith(AFFINITY) && !this.affinities.has(set)) this.batch.deleteSet(set);
    return stale;
  }

  private base(): void {
    const { batch } = this;
    batch.addTable();
    for (const [name] of BASE_CHAINS) batch.addChain({ name }).deleteChain(name);
    for (const [name, type, number, priority] of BASE_CHAINS)
      batch.addChain({ name, hook: { type, number, priority } }).flush(name);
    const made = new Set<string>();
    for (const [from, to, isForNew] of JUMPS) {
      if (!made.has(to)) batch.addChain({ name: to }).flush(to);
      made.add(to);
      batch.addRule(from, [...(isForNew ? nft.isNew : []), nft.jump(to)]);
    }
  }

  private shared(nodeAddresses: readonly string[], localNetwork: string): void {
    const { batch, family } = this;
    const { frontend, vmap, isIn } = nft;
    for (const [name, fields] of Object.entries({ ...SETS, ...MAPS })) {
      const map = name in MAPS ? { flags: SET_FLAG.MAP, data: VERDICTS } : { flags: 0 };
      const types = fields.map((field) => TYPE[field === 'ADDRESS' ? family : field]);
      const lengths = fields.map((field) => (field === 'ADDRESS' ? ADDRESS_LENGTH[family] : WORD));
      const keyLength = lengths.reduce<number>((sum, length) => sum + length, 0);
      batch.addSet({ name, ...map, keyType: joined(types), keyLength });
      this.elements.set(name as ElementsOf, []);
    }
    for (const address of nodeAddresses) this.element('nodeport-ips', [addressBytes(address)]);
    const [source, destination] = [nft.source(family), nft.destination(family)];
    const isNodePort = [destination, isIn('nodeport-ips'), ...nft.nodePort];
    const isHairpin = [...nft.translated(family), isIn('hairpin-connections')];
    const isForeign = this.within(source, localNetwork, false);
    batch
      .addChain({ name: REJECTING })
      .flush(REJECTING)
      .addRule(REJECTING, [nft.reject(family)])
      .addRule('masquerading', [...nft.takeMark, nft.masquerade])
      .addRule('masquerading', [...isHairpin, nft.masquerade])
      .addRule('cluster-ips-check', [destination, isIn('cluster-ips'), nft.reject(family)])
      .addRule('cluster-ips-check', [...this.within(destination, ADDRESSES[family].services), nft.drop])
      .addRule('service-endpoints-check', [...frontend(family), vmap('no-endpoint-services')])
      .addRule('nodeport-endpoints-check', [...isNodePort, vmap('no-endpoint-nodeports')])
      .addRule('firewall-check', [...frontend(family), vmap('firewall-ips')])
      .addRule('services', [destination, isIn('cluster-ips'), ...isForeign, ...nft.mark])
      .addRule('services', [...frontend(family), vmap('service-ips')])
      .addRule('services', [...isNodePort, vmap('service-nodeports')]);
  }

  private port(port: ServedPort): void {
    const { service, protocol, portName, hasAny, sourceRanges } = port;
    const name = named(`${service}/${protocol}/${portName}`);
    const [cluster, local] = [`service-${name}`, `local-${name}`];
    const [external, firewall] = [`external-${name}`, `firewall-${name}`];
    const refusal = hasAny ? dropped : goesTo(REJECTING);
    const shown = portName === '' ? service : `${service}:${portName}`;
    for (const { address, port: number, local } of port.reachable)
      if (local)
        this.element('hairpin-connections', [
          addressBytes(address),
          addressBytes(address),
          protocolWord(protocol),
          portWord(number),
        ]);
    if (port.cluster.length > 0) this.chain(cluster);
    if (port.local.length > 0) this.chain(local);
    if (hasAny && port.isExternal) this.chain(external);
    const isFirewalled =
      sourceRanges.length > 0 && port.frontends.some(({ kind }) => kind === 'load-balancer-ip');
    if (isFirewalled) this.chain(firewall);
    for (const frontend of port.frontends) {
      const key = this.keyOf(frontend);
      if (frontend.kind === 'cluster-ip') {
        this.element('cluster-ips', [addressBytes(frontend.address!)]);
        if (port.isServedInside)
          this.element('service-ips', key, goesTo(port.internalPolicyLocal ? local : cluster));
        else this.element('no-endpoint-services', key, refusal, shown);
        continue;
      }
      const isNodePort = frontend.kind === 'node-port';
      if (hasAny) this.element(isNodePort ? 'service-nodeports' : 'service-ips', key, goesTo(external));
      if (frontend.kind === 'load-balancer-ip' && isFirewalled)
        this.element('firewall-ips', key, goesTo(firewall));
      if (!port.isServedOutside)
        this.element(isNodePort ? 'no-endpoint-nodeports' : 'no-endpoint-services', key, refusal, shown);
    }
    if (hasAny && port.isExternal) this.externalRules(port, external, cluster, local);
    if (isFirewalled) this.firewallRules(firewall, sourceRanges);
    this.endpointRules(port, cluster, port.cluster);
    this.endpointRules(port, local, port.local);
    if (port.affinity > 0) for (const endpoint of port.reachable) this.stickyRules(port, endpoint);
  }

  /** Several ranges are one set of kube-proxy's, and a rule each here, to the same effect. */
  private firewallRules(firewall: string, [first, ...others]: readonly string[]): void {
    const { batch, family } = this;
    for (const range of others)
      batch.addRule(firewall, [...this.within(nft.source(family), range), nft.returns]);
    batch.addRule(firewall, [...this.within(nft.source(family), first!, false), nft.drop]);
  }

  private externalRules(port: ServedPort, external: string, cluster: string, local: string): void {
    const { batch, family } = this;
    if (port.externalPolicyLocal) {
      const isPod = this.within(nft.source(family), port.localNetwork);
      batch.addRule(external, [...isPod, nft.goto(cluster)]);
      batch.addRule(external, [...nft.isFromNode, ...nft.mark]);
      batch.addRule(external, [...nft.isFromNode, nft.goto(cluster)]);
    } else batch.addRule(external, nft.mark);
    if (port.isServedOutside) batch.addRule(external, [nft.goto(port.externalPolicyLocal ? local : cluster)]);
  }

  /** What picks one of the endpoints. */
  private endpointRules(port: ServedPort, chain: string, endpoints: readonly ExpectedEndpoint[]): void {
    if (endpoints.length === 0) return;
    const { batch, family } = this;
    const numbers = { keyType: 0, keyLength: WORD };
    const picked = (data: (endpoint: ExpectedEndpoint) => RawAttributes) =>
      endpoints.map((endpoint, index) => keyed(nft.drawn(index), data(endpoint)));
    if (port.affinity === 0) {
      const type = joined([TYPE[family], TYPE.PORT]);
      const data = { type, length: ADDRESS_LENGTH[family] + WORD };
      const { name, id } = batch.addAnonymousMap(
        { ...numbers, data },
        picked((each) => [{ type: DATA.VALUE, value: placeBytes(each) }]),
      );
      this.translating(port, chain, [nft.draw(endpoints.length), nft.map(name, id)]);
      return;
    }
    for (const endpoint of endpoints) {
      const own = endpointName(port, endpoint);
      this.affinity(port, own);
      batch.addRule(chain, [nft.source(family), nft.isIn(`${AFFINITY}${own}`), nft.goto(`endpoint-${own}`)]);
    }
    const { name, id } = batch.addAnonymousMap(
      { ...numbers, data: VERDICTS },
      picked((each) => goesTo(`endpoint-${endpointName(port, each)}`)),
    );
    batch.addRule(chain, [nft.draw(endpoints.length), nft.vmap(name, id)]);
  }

  private stickyRules(port: ServedPort, endpoint: ExpectedEndpoint): void {
    const own = endpointName(port, endpoint);
    this.batch.addRule(`endpoint-${own}`, nft.remember(this.family, `${AFFINITY}${own}`));
    this.translating(port, `endpoint-${own}`, nft.loadedPlace(this.family, placeBytes(endpoint)));
  }

  private translating({ frontends }: ServedPort, chain: string, loaded: readonly RawExpression[]): void {
    const isOfPort = nft.isProtocol(numberOf(frontends[0]!.protocol));
    this.batch.addRule(chain, [...isOfPort, ...loaded, nft.translate(this.family)]);
  }

  private affinity({ affinity }: ServedPort, own: string): void {
    const name = `${AFFINITY}${own}`;
    if (this.affinities.has(name)) return;
    this.affinities.add(name);
    this.chain(`endpoint-${own}`);
    const [keyType, keyLength] = [TYPE[this.family], ADDRESS_LENGTH[this.family]];
    this.batch.addSet({
      name,
      flags: SET_FLAG.TIMEOUT | SET_FLAG.EVAL,
      keyType,
      keyLength,
      timeout: affinity * 1_000,
    });
  }

  private chain(name: string): void {
    this.chains.add(name);
    this.batch.addChain({ name }).flush(name);
  }

  private within(address: RawExpression, network: string, isMeant = true): readonly RawExpression[] {
    const [base = '', length] = network.split('/');
    return nft.isWithin(address, addressBytes(base), Number(length), isMeant);
  }

  private keyOf({ address, port, protocol }: ExpectedFrontend): readonly Buffer[] {
    const place = [protocolWord(protocol), portWord(port)];
    return address === undefined ? place : [addressBytes(address), ...place];
  }

  private element(set: ElementsOf, key: readonly Buffer[], data?: RawAttributes, comment?: string): void {
    this.elements.get(set)!.push([...keyed(Buffer.concat(key), data), ...commented(comment)]);
  }
}

function keyed(key: Buffer, data?: RawAttributes): RawAttributes {
  return [
    { type: ELEMENT.KEY, value: [{ type: DATA.VALUE, value: key }] },
    ...(data ? [{ type: ELEMENT.DATA, value: data }] : []),
  ];
}

/** As nft writes it: a type of 0, a length, and the text with a zero. */
function commented(comment: string | undefined): RawAttributes {
  if (comment === undefined) return [];
  const text = Buffer.from(`${comment}\0`);
  return [{ type: ELEMENT.USERDATA, value: Buffer.concat([Buffer.from([0, text.length]), text]) }];
}

function goesTo(chain: string): RawAttributes {
  const its = [
    { type: VERDICT.CODE, value: VERDICT_CODE.GOTO },
    { type: VERDICT.CHAIN, value: chain },
  ];
  return [{ type: DATA.VERDICT, value: its }];
}

const dropped: RawAttributes = [
  { type: DATA.VERDICT, value: [{ type: VERDICT.CODE, value: VERDICT_CODE.DROP }] },
];

function named(text: string): string {
  return `${hashOf(text, HASH)}-${text}`;
}

function endpointName(
  { service, protocol, portName }: ServedPort,
  { address, port }: ExpectedEndpoint,
): string {
  return named(`${service}/${protocol}/${portName}__${address.replaceAll(':', '.')}/${port}`);
}

function joined(types: readonly number[]): number {
  return types.reduce((sum, type) => (sum << BITS) | type, 0);
}

function numberOf(protocol: string): number {
  return IPPROTO[protocol.toUpperCase() as keyof typeof IPPROTO];
}

function protocolWord(protocol: string): Buffer {
  return Buffer.of(numberOf(protocol), 0, 0, 0);
}

function portWord(port: number): Buffer {
  return Buffer.of(port >> 8, port & 0xff, 0, 0);
}

function placeBytes({ address, port }: ExpectedEndpoint): Buffer {
  return Buffer.concat([addressBytes(address), portWord(port)]);
}

const NUMBER = { IPv4: FAMILY.IP, IPv6: FAMILY.IP6 } as const;

/** kube-proxy in mode nftables. Each of its syncs is a full one, and as the first of its process. */
export const nftablesMode: KubeProxyMode = {
  sync(machine, family, ports, node) {
    const { nfTables, links } = machine;
    const batch = new ForeignBatch(nftFamily(family), TABLE);
    const table = new NftablesTable(batch, family, nfTables.view(NUMBER[family], TABLE));
    const stale = table.write(ports, links.isLocal(node.address) ? [node.address] : [], node.localNetwork);
    transact(machine, batch);
    if (stale.length === 0) return;
    const later = new ForeignBatch(nftFamily(family), TABLE);
    for (const chain of stale) later.deleteChain(chain);
    transact(machine, later);
  },
  // It looks once an hour.
  isDamaged: () => false,
  remove(machine, families) {
    for (const family of families)
      if (machine.nfTables.view(NUMBER[family], TABLE))
        transact(machine, new ForeignBatch(nftFamily(family), TABLE).deleteTable());
  },
};

/** @throws Error if the kernel rejects it: it is wrong, or what it is written over */
function transact({ nfTables }: Machine, batch: ForeignBatch): void {
  const errors = nfTables.transact(STRANGER, batch.end());
  if (errors.length > 0) throw new Error(`kube-proxy's transaction is refused: errors ${errors.join(', ')}`);
}
