import { collectGarbage } from '../../src/adapters/process/own-process.js';
import { PinoLogger } from '../../src/adapters/process/pino-logger.js';
import { ChangeHistory } from '../../src/application/status/change-history.js';
import type { SyncReport } from '../../src/application/ports/sync-observer.js';
import type { IpFamily } from '../../src/domain/net/ip-family.js';
import { serviceOf } from '../../src/domain/model/service-port-name.js';
import { parseCommandLine } from '../../src/bootstrap/configuration/command-line.js';
import { NftablesMode } from '../../src/bootstrap/modes/nftables-mode.js';
import { composeProxy } from '../../src/bootstrap/proxy.js';
import { CLUSTER_CIDR, endpointSlice, node, NODE_NAME, service, serviceCidr } from '../cluster.js';
import { quantile } from '../statistics.js';
import { ATTACKS, type Delivered } from './attacks.js';

/*
 * One tenant does its worst, while another Service's endpoint changes regularly: `node tenants/victim.js ATTACK SECONDS` prints
 * VictimFigures as one line of JSON. Runs in the network namespace of a BenchHost, in one process, without an API server. A change
 * counts from when it was due, so time in which the event loop had no turn counts, too.
 */

/** Milliseconds and bytes. */
export interface VictimFigures {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  /** Processor time that the process used while a change waited, at p99: what it would take on an idle machine, about. */
  readonly usedP99: number;
  /** Of the log, a second. */
  readonly logged: number;
  /** How many changes of the tenant were delivered. */
  readonly attacks: number;
  /** From all lists being complete to committed. */
  readonly firstSync: number;
}

const SERVICES = 100;
const ENDPOINTS = 5;
/** No multiple of the period of an attack. */
const VICTIM_PERIOD_MS = 130;
const SETTLE_MS = 2_000;
/** After the last change, for those that still wait. */
const PATIENCE_MS = 60_000;
const VICTIM = 'bench/service-0';

/** When changes of the victim were due, and how long each took. */
class Victim extends ChangeHistory {
  readonly latencies: number[] = [];
  readonly used: number[] = [];
  private readonly due = new Map<string, Moment>();

  delivered(slice: object, due: Moment): void {
    this.due.set(firstAddress(slice), due);
  }

  get isServed(): boolean {
    return this.due.size === 0;
  }

  override finished(family: IpFamily, report: SyncReport): void {
    const now = moment();
    const failed = new Set(report.failed.map(({ key }) => key));
    for (const { key, entry } of report.changed) {
      if (serviceOf(key) !== VICTIM || failed.has(key)) continue;
      const addresses = new Set(entry?.endpoints.reachable.map(({ address }) => address));
      const last = [...this.due].find(([address]) => addresses.has(address))?.[1];
      // Earlier ones were overtaken.
      for (const [address, due] of this.due)
        if (last !== undefined && due.time <= last.time) {
          this.latencies.push(now.time - due.time);
          this.used.push(Math.max(0, now.used - due.used));
          this.due.delete(address);
        }
    }
    super.finished(family, report);
  }
}

/** In milliseconds. */
interface Moment {
  readonly time: number;
  /** Processor time of all threads. */
  readonly used: number;
}

function moment(): Moment {
  const { user, system } = process.cpuUsage();
  return { time: performance.now(), used: (user + system) / 1_000 };
}

function firstAddress(slice: object): string {
  const { endpoints } = slice as { readonly endpoints: readonly { readonly addresses: readonly string[] }[] };
  return endpoints[0]!.addresses[0]!;
}

function parsed(object: object): object {
  return JSON.parse(JSON.stringify(object)) as object;
}

/** Calls back for the first multiple of the period that has passed since, as soon as the event loop has a turn. */
function every(periodMs: number, call: (due: Moment) => void): () => void {
  const began = performance.now();
  let count = 0;
  let before = moment();
  const timer = setInterval(() => {
    const now = moment();
    const passed = Math.floor((now.time - began) / periodMs);
    if (passed > count) {
      const time = began + (count + 1) * periodMs;
      const used = Math.min(now.used, before.used + Math.max(0, time - before.time));
      count = passed;
      call({ time, used });
    }
    before = moment();
  }, 1);
  return () => clearInterval(timer);
}

async function measure(name: string, seconds: number): Promise<VictimFigures> {
  const attack = ATTACKS[name]!;
  const changes = attack.changes();
  let logged = 0;
  const stream = { write: (line: string) => void (logged += Buffer.byteLength(line)) };
  const logger = PinoLogger.open({ verbosity: 0, format: 'json', stream });
  const argv = ['--hostname-override', NODE_NAME, '--cluster-cidr', CLUSTER_CIDR, '--proxy-mode', 'nftables'];
  const commandLine = parseCommandLine(argv, { readFile: () => '', hostname: () => NODE_NAME });
  const mode = await new NftablesMode(logger).open('serve', ['IPv4', 'IPv6']);
  let victim!: Victim;
  const parts = composeProxy(commandLine, mode, logger, {
    changeHistory: ({ statuses, clock }) => (victim = new Victim(statuses, clock)),
  });
  const { clusterEvents: events, served, awaitNode } = parts;
  const loops = served.map(({ loop }) => loop);
  void awaitNode.ready.then(() => loops.forEach((loop) => loop.initialized()));
  const deliver = ({ kind, json }: Delivered): void => events.applied(kind, JSON.parse(json));

  events.applied('Node', node());
  events.applied('ServiceCIDR', serviceCidr());
  for (let index = 0; index < SERVICES; index++) {
    events.applied('Service', parsed(service(index)));
    events.applied('EndpointSlice', parsed(endpointSlice(index, ENDPOINTS)));
  }
  attack.present().forEach(deliver);
  const began = performance.now();
  for (const kind of ['Node', 'ServiceCIDR', 'Service', 'EndpointSlice'] as const) events.synced(kind);
  await Promise.all(loops.map((loop) => loop.firstAttempt));
  const firstSync = performance.now() - began;
  await collectGarbage();
  await pause(SETTLE_MS);

  logged = 0;
  let attacks = 0;
  let generation = 0;
  const stopAttack = every(attack.periodMs, () => {
    for (const each of changes.length > 0 ? changes[attacks % changes.length]! : []) deliver(each);
    attacks++;
  });
  const stopVictim = every(VICTIM_PERIOD_MS, (due) => {
    const slice = parsed(endpointSlice(0, ENDPOINTS, ++generation));
    victim.delivered(slice, due);
    events.applied('EndpointSlice', slice);
  });
  await pause(1_000 * seconds);
  stopVictim();
  const bytes = logged / seconds;
  stopAttack();
  for (const end = performance.now() + PATIENCE_MS; !victim.isServed && performance.now() < end;)
    await pause(10);
  if (!victim.isServed) throw new Error('a change was not programmed');
  await Promise.all(loops.map((loop) => loop.stop()));
  await mode.close();
  const p = (share: number): number => quantile(victim.latencies, share);
  return {
    p50: p(0.5),
    p90: p(0.9),
    p99: p(0.99),
    max: Math.max(...victim.latencies),
    usedP99: quantile(victim.used, 0.99),
    logged: bytes,
    attacks,
    firstSync,
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const [name = 'quiet', seconds = '20'] = process.argv.slice(2);
console.log(JSON.stringify(await measure(name, Number(seconds))));
process.exit(0);
