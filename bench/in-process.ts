import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { collectGarbage } from '../src/adapters/process/own-process.js';
import { MemoryLogger } from '../src/testing/fakes/memory-logger.js';
import type { SyncObserver } from '../src/application/ports/sync-observer.js';
import type { ClusterEvents } from '../src/application/use-cases/cluster-events.js';
import { parseCommandLine } from '../src/bootstrap/configuration/command-line.js';
import { withMode } from '../src/bootstrap/configuration/proxy-configuration.js';
import type { Configuration } from '../src/bootstrap/configuration/schema.js';
import { IpvsMode } from '../src/bootstrap/modes/ipvs-mode.js';
import { IptablesMode } from '../src/bootstrap/modes/iptables-mode.js';
import { NftablesMode } from '../src/bootstrap/modes/nftables-mode.js';
import type { OpenMode } from '../src/bootstrap/modes/mode.js';
import { composeProxy } from '../src/bootstrap/proxy.js';
import { CLUSTER_CIDR, endpointSlice, node, NODE_NAME, service, serviceCidr } from './cluster.js';
import type { Phase } from './phase.js';
import type { InProcessResult } from './report.js';
import { median, quantile } from './statistics.js';

/* The measurements inside one process, without files and start-up: `node in-process.js SERVICES ENDPOINTS MODE [FILE]`
 * prints InProcessResult as one line of JSON. MODE is a proxy mode; The current phase is written to FILE. Runs in the namespace
 * of the BenchHost.
 */

type MeasuredMode = 'nftables' | 'iptables' | 'ipvs';

/** The number of single changes: one of iptables takes as long as the tool does. */
const CHANGES = { nftables: 2_000, iptables: 20, ipvs: 200 };
const BURST = 1_000;
const PAGE = 500;
/** Milliseconds between pages: a megabyte or two each, which is about as fast as an API server delivers them. */
const PAGE_PERIOD = 50;

/** Calls back when the next sync of IPv4 is finished. */
class FinishedSyncs implements SyncObserver {
  private waiting: (() => void) | undefined;

  next(): Promise<void> {
    return new Promise((resolve) => (this.waiting = resolve));
  }

  finished(family: string): void {
    if (family !== 'IPv4') return;
    this.waiting?.();
    this.waiting = undefined;
  }

  loopStarted(): void {}
  queued(): void {}
  dequeued(): void {}
  verified(): void {}
  repaired(): void {}
  serviceEvent(): void {}
  endpointSliceEvent(): void {}
}

/**
 * Delivers the Services and their endpoints as an API server does, in pages. Returns how many milliseconds that takes
 * without the pauses, which a mode may use.
 */
async function deliverServices(events: ClusterEvents, services: number, endpoints: number): Promise<number> {
  let milliseconds = 0;
  for (let first = 0; first < services; first += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, services - first) }, (_, place) => ({
      service: parsed(service(first + place)),
      slice: parsed(endpointSlice(first + place, endpoints)),
    }));
    const began = performance.now();
    for (const { service, slice } of page) {
      events.applied('Service', service);
      events.applied('EndpointSlice', slice);
    }
    milliseconds += performance.now() - began;
    await setTimeout(PAGE_PERIOD);
  }
  return milliseconds;
}

/** As received over the network: strings that a program concatenates take more memory. */
function parsed(object: object): unknown {
  return JSON.parse(JSON.stringify(object));
}

/** Warnings on opening, such as about a container's own lock file, do not matter here. */
function open(mode: MeasuredMode, { ipvs }: Configuration): Promise<OpenMode> {
  const logger = new MemoryLogger();
  if (mode === 'nftables') return new NftablesMode(logger).open('serve', ['IPv4', 'IPv6']);
  return mode === 'ipvs' ? new IpvsMode(ipvs, logger).open() : new IptablesMode(false, logger).open();
}

async function measure(
  services: number,
  endpoints: number,
  modeName: MeasuredMode,
  begin: (phase: Phase) => void,
): Promise<InProcessResult> {
  // This measures a change, not the pause before it that other modes make by default.
  const pause = ['--iptables-min-sync-period', '0s', '--ipvs-min-sync-period', '0s'];
  const argv = ['--hostname-override', NODE_NAME, '--cluster-cidr', CLUSTER_CIDR, ...pause];
  // The program warns about node ports on all addresses, which is the default.
  argv.push('--nodeport-addresses', 'primary');
  const asked = parseCommandLine(argv, { readFile: () => '', hostname: () => NODE_NAME });
  const commandLine = { ...asked, configuration: withMode(asked.configuration, modeName) };
  const logger = new MemoryLogger();
  const mode = await open(modeName, commandLine.configuration);
  const syncs = new FinishedSyncs();
  const parts = composeProxy(commandLine, mode, logger, { syncObserver: () => syncs });
  const { clusterEvents: events, served, awaitNode } = parts;
  const loops = served.map(({ loop }) => loop);
  void awaitNode.ready.then(() => {
    for (const loop of loops) loop.initialized();
  });

  events.applied('Node', node());
  events.applied('ServiceCIDR', serviceCidr());
  const read = await deliverServices(events, services, endpoints);
  begin('first');
  const began = performance.now();
  for (const kind of ['Node', 'ServiceCIDR', 'Service', 'EndpointSlice'] as const) events.synced(kind);
  await Promise.all(loops.map((loop) => loop.firstAttempt));
  const firstSync = performance.now() - began;
  // As the program does at the end of its start.
  await collectGarbage();

  begin('change');
  const changes = CHANGES[modeName];
  const times: number[] = [];
  for (let change = 1; change <= changes; change++) {
    const slice = parsed(endpointSlice((change * 7919) % services, endpoints, change));
    const finished = syncs.next();
    const start = performance.now();
    events.applied('EndpointSlice', slice);
    await finished;
    times.push(performance.now() - start);
  }

  begin('burst');
  const burstObjects = Array.from({ length: BURST }, (_, index) =>
    parsed(endpointSlice((index * 104_729) % services, endpoints, changes + 1 + index)),
  );
  const burstStart = performance.now();
  const burstDone = syncs.next();
  for (const slice of burstObjects) events.applied('EndpointSlice', slice);
  await burstDone;
  const burst = performance.now() - burstStart;

  const problems = [...logger.at('error'), ...logger.at('warn')];
  if (problems.length > 0) throw new Error(`the run had problems: ${JSON.stringify(problems.slice(0, 3))}`);
  await Promise.all(loops.map((loop) => loop.stop()));
  await mode.close();
  return {
    read,
    firstSync,
    changeP50: median(times),
    changeP99: quantile(times, 0.99),
    burst,
  };
}

// The clock's timers alone would not keep the process alive.
const alive = setInterval(() => {}, 2 ** 30);
const [services = '1000', endpoints = '5', modeName = 'nftables', phaseFile] = process.argv.slice(2);
const begin = (phase: Phase) => {
  if (phaseFile !== undefined) writeFileSync(phaseFile, phase);
};
const result = await measure(Number(services), Number(endpoints), modeName as MeasuredMode, begin);
console.log(JSON.stringify(result));
clearInterval(alive);
