import type { PlantedFault } from './fault.js';

const PLACE = {
  servers: 'src/adapters/ipvs/server-table.ts',
  write: 'src/adapters/ipvs/ordered-write.ts',
  compile: 'src/domain/ipvs/compile.ts',
  port: 'src/adapters/userspace/service-port.ts',
};

/** In what modes ipvs and userspace do. */
export const OTHER_MODES_FAULTS: readonly PlantedFault[] = [
  {
    name: 'draining-servers-keep-their-weight',
    file: PLACE.servers,
    original: 'const idle = { address, port, weight: 0, since',
    fault: 'const idle = { address, port, weight: 1, since',
    modes: ['ipvs'],
  },
  {
    name: 'endpoints-drain-only-where-another-one-has-weight-1',
    file: PLACE.servers,
    original: '(reals?.get(realServerKey(one))?.weight ?? 0) > 0)',
    fault: 'reals?.get(realServerKey(one))?.weight === 1)',
    modes: ['ipvs'],
  },
  {
    name: 'endpoints-of-weight-0-are-removed',
    file: PLACE.compile,
    original: 'const kept = [...(weightless?.[which] ?? []), ...',
    fault: 'const kept = [...',
    modes: ['ipvs'],
  },
  {
    name: 'known-servers-are-not-changed',
    file: PLACE.servers,
    original: 'else if (!sameService(present.server, server))',
    fault: 'else if (present.server.address !== server.address)',
    modes: ['ipvs'],
  },
  {
    name: 'addresses-without-a-service-stay',
    file: PLACE.write,
    original: '    await this.remove(addresses, [...change.addresses]);\n',
    fault: '',
    modes: ['ipvs'],
  },
  {
    name: 'new-virtual-servers-wait-for-the-next-change',
    file: PLACE.write,
    original: 'return server && (servers.has(key) || this.mayAdd(key)) ?',
    fault: 'return server && servers.has(key) ?',
    modes: ['ipvs'],
  },
  {
    name: 'virtual-servers-ignore-policy-local',
    file: PLACE.compile,
    original: "const which = policy === 'Local' && local?.length ? 'local' : 'cluster';",
    fault: "const which = 'cluster';",
    modes: ['ipvs'],
  },
  {
    name: 'load-balancers-without-source-ranges',
    file: PLACE.compile,
    original: "        ...(restricted ? [member('KUBE-LOAD-BALANCER-FW')] : []),\n",
    fault: '',
    modes: ['ipvs'],
  },
  {
    name: 'temporary-problems-of-steps-are-forgotten',
    file: PLACE.write,
    original: '    if (this.temporary !== undefined) throw new IpvsTemporaryError(this.temporary);\n',
    fault: '',
    modes: ['ipvs'],
  },
  {
    name: 'node-ports-are-not-served-to-the-node',
    file: 'src/domain/userspace/portals.ts',
    original: '          ...entryHere(NODEPORT_HOST, []),\n',
    fault: '',
    modes: ['userspace'],
  },
  {
    name: 'proxy-ports-keep-their-first-frontends',
    file: PLACE.port,
    original: '      this.reachable = [...this.reachable, frontend];\n',
    fault: '      this.reachable = [...this.reachable, frontend].slice(0, 1);\n',
    modes: ['userspace'],
  },
];
