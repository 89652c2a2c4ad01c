import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { ServiceChainNames } from '../../../src/domain/iptables/chain-names.js';
import type { Chain, IptablesServicePortRules } from '../../../src/domain/iptables/table.js';
import type { IptablesHost } from '../../../src/domain/iptables/options.js';
import {
  serviceOf,
  type ServicePortKey,
  type ServicePortName,
} from '../../../src/domain/model/service-port-name.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

/** Hand-made service ports: `s7` is at 10.96.0.7:80, and has endpoints of its own. */
export class Services {
  private readonly fragments = new Map<ServicePortKey, IptablesServicePortRules>();

  constructor(readonly family: IpFamily = 'IPv4') {}

  /** Makes or changes a service port; its change is what a backend is given. */
  set(number: number, endpoints = 2, poison?: string): ForwardingChange {
    const key = keyOf(number);
    this.fragments.set(key, fragment(this.family, number, endpoints, poison));
    return { key, entry: entryOf(key) };
  }

  remove(number: number): ForwardingChange {
    this.fragments.delete(keyOf(number));
    return { key: keyOf(number), entry: undefined };
  }

  /** A service port without endpoints: refused in table filter. */
  setEmpty(number: number): ForwardingChange {
    const key = keyOf(number);
    const rule = `-d ${this.address(number)} -p tcp -m comment --comment "${serviceOf(key)} has no endpoints" -m tcp --dport 80 -j REJECT --reject-with ${this.family === 'IPv4' ? 'icmp-port-unreachable' : 'icmp6-port-unreachable'}`;
    this.fragments.set(key, {
      chains: [],
      entries: [{ table: 'filter', chain: 'KUBE-SERVICES', rule }],
    });
    return { key, entry: entryOf(key) };
  }

  get all(): readonly ForwardingEntry[] {
    return [...this.fragments.keys()].map(entryOf);
  }

  readonly compile = ({ key }: ForwardingEntry): IptablesServicePortRules => this.fragments.get(key)!;

  private address(number: number): string {
    return addressOf(this.family, number);
  }
}

export const HOST: IptablesHost = { randomFully: true, tcpLiberal: false, counters: new Set() };

export function nodeNetwork(family: IpFamily = 'IPv4'): NodeNetwork {
  return {
    family,
    detector: undefined,
    masqueradeBit: 14,
    masqueradeAll: false,
    nodePortIPs: 'all',
    serviceCIDRs: [],
  };
}

export function keyOf(number: number): ServicePortKey {
  return `test/s${number}/tcp/`;
}

export function serviceChain(number: number): string {
  return new ServiceChainNames(nameOf(keyOf(number))).of('SVC');
}

export function endpointChain(number: number, endpoint: number): string {
  return new ServiceChainNames(nameOf(keyOf(number))).ofEndpoint(String(endpoint));
}

function nameOf(key: ServicePortKey): ServicePortName {
  const [namespace, name] = key.split('/') as [string, string];
  return { namespace, name, port: '', protocol: 'TCP' };
}

function entryOf(key: ServicePortKey): ForwardingEntry {
  return { key, name: nameOf(key), knownEndpoints: 1 } as ForwardingEntry;
}

function addressOf(family: IpFamily, number: number): string {
  return family === 'IPv4'
    ? `10.96.${number >> 8}.${number & 255}/32`
    : `fd00:96::${number.toString(16)}/128`;
}

function fragment(
  family: IpFamily,
  number: number,
  endpoints: number,
  poison?: string,
): IptablesServicePortRules {
  const key = keyOf(number);
  const service = serviceChain(number);
  const choices: string[] = [];
  const chains: Chain[] = [];
  for (let index = 0; index < endpoints; index++) {
    const name = endpointChain(number, index);
    const ip =
      family === 'IPv4' ? `10.244.${index}.${number & 255}` : `fd00:244::${index + 1}:${number.toString(16)}`;
    const target = family === 'IPv4' ? `${ip}:8080` : `[${ip}]:8080`;
    // Probabilities as iptables-save prints them.
    const left = endpoints - index;
    const chance = left === 1 ? '' : `-m statistic --mode random --probability ${CHANCES[left]} `;
    choices.push(`-m comment --comment "${serviceOf(key)} -> ${target}" ${chance}-j ${name}`);
    chains.push({
      table: 'nat' as const,
      name,
      rules: [
        `-s ${ip}/${family === 'IPv4' ? 32 : 128} -m comment --comment "${serviceOf(key)}" -j KUBE-MARK-MASQ`,
        `-p tcp -m comment --comment "${serviceOf(key)}" -m tcp -j DNAT --to-destination ${target}`,
      ],
    });
  }
  if (poison !== undefined) choices.push(poison);
  const entry = `-d ${addressOf(family, number)} -p tcp -m comment --comment "${serviceOf(key)} cluster IP" -m tcp --dport 80 -j ${service}`;
  return {
    chains: [{ table: 'nat', name: service, rules: choices }, ...chains],
    entries: [{ table: 'nat', chain: 'KUBE-SERVICES', rule: entry }],
  };
}

const CHANCES: Readonly<Record<number, string>> = {
  2: '0.50000000000',
  3: '0.33333333349',
  4: '0.25000000000',
  5: '0.20000000019',
};
