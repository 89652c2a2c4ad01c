import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { refuses } from '../checks/budgets.js';
import { parseDescription, type ServiceDescription } from '../cluster/service-description.js';
import { getOrMake } from '../../../src/domain/model/maps.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { nftFamily } from '../../../src/domain/nftables/layout/table.js';
import { ForeignBatch } from '../kernel/nf-tables/foreign-batch.js';
import { FAMILY } from '../kernel/nf-tables/numbers.js';
import type { NfTables } from '../kernel/nf-tables/nf-tables.js';
import { servedByOthers } from '../kube-proxy/kube-proxy.js';
import type { Step } from '../schedule/schedule.js';
import type { Plan } from '../schedule/plan.js';
import type { StepKind } from '../schedule/step-kind.js';
import type { Simulation } from '../simulation.js';
import { ADDRESSES } from '../world/settings.js';
import { STRANGER } from './foreign/deed.js';

/** What a former version of the proxy left in nf_tables of a real kernel (docs/internals/simulation.md). */
interface Left {
  /** With which it was made. */
  readonly commit: string;
  /** Arguments of the steps `put` that lead to it. */
  readonly services: readonly string[];
  /** Messages that make it: the lower byte of the type, and the attributes in hexadecimal. */
  readonly IPv4: readonly string[];
  readonly IPv6: readonly string[];
}

const TABLE = 'kube-proxy';
const NUMBER = { IPv4: FAMILY.IP, IPv6: FAMILY.IP6 } as const;
/** Its layout was never released. */
const OLDEST = 'names-of-kube-proxy';
const VERSIONS = [OLDEST, 'first-digests'] as const;

/** The proxy starts where a former version of it ran in mode nftables. */
export const formerVersion: StepKind = {
  name: 'former-version',
  weight: 0,
  plan: ({ random }) => [random.pick(VERSIONS)],
  perform: (simulation, [version = '']) => leave(simulation, version),
};

/** The node goes back to a former version, with its Services and no others, and after so many milliseconds to the present one again. */
export const formerVersionAgain: StepKind = {
  name: 'former-version-again',
  weight: 0,
  plan(plan) {
    const { random, settings } = plan;
    if (settings.mode !== 'nftables' || settings.source === 'manifests') return undefined;
    const version = random.pick(VERSIONS);
    plan.services.clear();
    takeIn(plan, servicesOf(leftBy(version)));
    return [random.pick(['killed', 'asked']), version, String(random.pick([10, 2_000]))];
  },
  perform(simulation, [how = '', version = '', pause = '0']) {
    const { cluster, history, world } = simulation;
    const left = leftBy(version);
    simulation.restartOnceEnded(Number(pause), () => {
      // Rules of other modes would be in its way.
      if (simulation.modes.size > 1 || !simulation.modes.has('nftables')) return;
      // Its rules are of the addresses that the node has at first.
      const { families } = world.settings;
      if (families.some((family) => cluster.nodeAddresses[family] !== ADDRESSES[family].node)) return;
      const services = servicesOf(left);
      for (const name of history.services) if (!services.has(name)) cluster.removeService(name);
      for (const [name, description] of services) cluster.putService(name, description);
      leave(simulation, version);
      world.machine.connections.flush();
    });
    if (how === 'killed') world.proxy.kill();
    else world.proxy.raise('SIGTERM');
  },
};

/** It has ended, and its rules are there, in the place of others of their names. */
function leave(simulation: Simulation, version: string): void {
  const { everyCommit, schedule, world } = simulation;
  const left = leftBy(version);
  everyCommit.damage(() => {
    for (const family of world.settings.families) write(world.machine.nfTables, family, left[family]);
  });
  servedByOthers(simulation, 'nftables');
  if (version === OLDEST) simulation.untakenAt = world.machine.commits;
  // Of that layout nothing is kept for what cannot be programmed or read (docs/internals/nftables.md).
  const mayBeLost = world.settings.source === 'manifests' || schedule.steps.some(refuses);
  if (version === OLDEST && mayBeLost) everyCommit.damage(() => undefined, true);
}

/** Those that come later have other numbers. */
function takeIn(plan: Plan, services: ReadonlyMap<string, ServiceDescription>): void {
  for (const [name, description] of services) plan.services.set(name, description);
  while (plan.next() < services.size);
}

function servicesOf({ services }: Left): ReadonlyMap<string, ServiceDescription> {
  return new Map(
    services.map((text) => {
      const [name = '', ...description] = text.split(' ');
      return [name, parseDescription(description)];
    }),
  );
}

/** Its Services are there, in the place of those of their names, and then its rules. */
export function afterFormerVersion(plan: Plan): readonly Step[] {
  const args = formerVersion.plan(plan)!;
  const left = leftBy(args[0]!);
  takeIn(plan, servicesOf(left));
  return [
    ...left.services.map((text) => ({ at: 0, name: 'put', args: text.split(' ') })),
    { at: 0, name: formerVersion.name, args },
  ];
}

function write(nfTables: NfTables, family: IpFamily, messages: readonly string[]): void {
  const batch = new ForeignBatch(nftFamily(family), TABLE);
  if (nfTables.view(NUMBER[family], TABLE)) batch.deleteTable();
  for (const message of messages) {
    const [kind = '', attributes = ''] = message.split(' ');
    batch.addListed(Number(kind), Buffer.from(attributes, 'hex'));
  }
  const errors = nfTables.transact(STRANGER, batch.end());
  if (errors.length > 0)
    throw new Error(`what a former version left is refused: errors ${errors.join(', ')}`);
}

/** Read once for all worlds. */
const LEFT = new Map<string, Left>();

function leftBy(version: string): Left {
  return getOrMake(LEFT, version, () => {
    const file = resolve('test/simulation/recorded', `${version}.json.gz`);
    return JSON.parse(gunzipSync(readFileSync(file)).toString()) as Left;
  });
}
