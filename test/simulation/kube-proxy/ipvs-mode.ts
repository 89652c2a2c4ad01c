import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { ExpectedEndpoint, ExpectedFrontend } from '../checks/expected-ports.js';
import { IPPROTO } from '../kernel/conntrack/ctnetlink.js';
import { destinationKey, serverKey, type ServerId } from '../kernel/ipvs/virtual-server.js';
import type { Machine } from '../kernel/machine.js';
import { STRANGER } from '../steps/foreign/deed.js';
import { IPVS_JUMPS, IptablesTables } from './iptables-tables.js';
import { IPVS_CHAINS, ipvsRules } from './ipvs-rules.js';
import { IpvsSets } from './ipvs-sets.js';
import type { KubeProxyMode } from './kube-proxy-mode.js';
import type { ServedPort } from './served-port.js';

const DEVICE = 'kube-ipvs0';
const AF = { IPv4: 2, IPv6: 10 } as const;
const PERSISTENT = 1;
const NETMASK = { IPv4: 0xffff_ffff, IPv6: 128 } as const;
const FULL_LENGTH = { IPv4: 32, IPv6: 128 } as const;

/** kube-proxy in mode ipvs. */
export const ipvsMode: KubeProxyMode = {
  sync(machine, family, ports, { localNetwork }) {
    const { links, programs } = machine;
    const tables = new IptablesTables(machine, family);
    tables.ensureJumps(IPVS_JUMPS);
    links.addLink({ name: DEVICE, kind: 'dummy' }, STRANGER);
    const sets = new IpvsSets(family);
    for (const { name, creation } of sets.all) programs.run(['ipset', 'create', name, ...creation, '-exist']);
    const nodeAddresses = nodeAddressesOf(machine, family);
    const isBound = new Set([...links.addresses(DEVICE)].map(({ address }) => address));
    const active = new Set<string>();
    for (const port of ports) {
      sets.add(port, nodeAddresses);
      for (const frontend of port.frontends) {
        const addresses = frontend.address === undefined ? nodeAddresses : [frontend.address];
        for (const address of addresses) {
          const id = serverId(family, { ...frontend, address });
          active.add(serverKey(id));
          writeServer(machine, id, port, frontend.kind === 'cluster-ip');
          if (frontend.kind === 'node-port' || nodeAddresses.includes(address)) continue;
          sets.get('IPVS-IPS').members.add(address);
          if (!isBound.has(address)) links.addAddress(DEVICE, address, FULL_LENGTH[family], {}, STRANGER);
        }
      }
    }
    fill(machine, sets);
    tables.restore(ipvsRules(family, sets, ports, localNetwork));
    for (const address of isBound)
      if (isOf(family, address) && !sets.get('IPVS-IPS').members.has(address))
        links.removeAddress(DEVICE, address, undefined, STRANGER);
    for (const [key, server] of [...machine.servers.view()])
      if (isOf(family, server.address) && !active.has(key)) machine.servers.delete(server, STRANGER);
  },
  isDamaged: () => true,
  remove(machine, families) {
    machine.servers.flush(STRANGER);
    machine.links.removeLink(DEVICE, STRANGER);
    for (const family of families)
      new IptablesTables(machine, family).removeOneByOne(IPVS_JUMPS, IPVS_CHAINS);
    // It forgets those of IPv6.
    for (const { name } of new IpvsSets('IPv4').all) machine.programs.run(['ipset', 'destroy', name]);
  },
};

function serverId(family: IpFamily, { address, port, protocol }: ExpectedFrontend): ServerId {
  const number = IPPROTO[protocol as keyof typeof IPPROTO];
  return { family: AF[family], protocol: number, address: address!, port };
}

function writeServer({ servers }: Machine, id: ServerId, port: ServedPort, isInside: boolean): void {
  const { family, affinity } = port;
  const settings = {
    scheduler: 'rr',
    flags: affinity > 0 ? PERSISTENT : 0,
    timeout: affinity,
    netmask: NETMASK[family],
  };
  const present = servers.find(id);
  if (!present) servers.add(id, settings, STRANGER);
  else if (Object.entries(settings).some(([name, value]) => present[name as 'flags'] !== value))
    servers.set(id, settings, STRANGER);
  const wantsLocal = isInside ? port.internalPolicyLocal : port.externalPolicyLocal;
  const wanted = wantsLocal && port.local.length > 0 ? port.local : port.cluster;
  const destinations = new Map(servers.find(id)!.destinations);
  for (const endpoint of wanted) {
    const destination = destinationOf(family, endpoint);
    const there = destinations.get(destinationKey(endpoint));
    if (!there) servers.addDestination(id, destination, STRANGER);
    else if (there.weight !== 1) servers.setDestination(id, destination, STRANGER);
    destinations.delete(destinationKey(endpoint));
  }
  for (const destination of destinations.values()) servers.deleteDestination(id, destination, STRANGER);
}

function destinationOf(family: IpFamily, { address, port }: ExpectedEndpoint) {
  return { family: AF[family], address, port, forwarding: 0, weight: 1 };
}

function fill({ programs }: Machine, sets: IpvsSets): void {
  for (const { name, members } of sets.all) {
    const there = programs.sets.get(name)?.members ?? new Set();
    for (const member of [...there]) if (!members.has(member)) programs.run(['ipset', 'del', name, member]);
    for (const member of members)
      if (!there.has(member)) programs.run(['ipset', 'add', name, member, '-exist']);
  }
}

/** Those of all devices but the dummy and loopback. */
function nodeAddressesOf({ links }: Machine, family: IpFamily): readonly string[] {
  return [...links.addresses()]
    .filter(({ device }) => device.name !== DEVICE && device.name !== 'lo')
    .map(({ address }) => address)
    .filter((address) => isOf(family, address) && !address.startsWith('fe80:'));
}

function isOf(family: IpFamily, address: string): boolean {
  return address.includes(':') === (family === 'IPv6');
}
