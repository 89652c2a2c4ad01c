import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseDescription } from '../cluster/service-description.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { ForeignBatch } from '../kernel/nf-tables/foreign-batch.js';
import type { NfTables } from '../kernel/nf-tables/nf-tables.js';
import { servedByOthers } from '../kube-proxy/served-by-others.js';
import type { Step } from '../schedule/schedule.js';
import type { Plan, StepKind } from '../schedule/step-kind.js';
import { STRANGER } from './foreign/deed.js';

/** What a former version of the proxy left in nf_tables of a real kernel (docs/simulation.md). */
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
const NFT_FAMILY = { IPv4: 'ip', IPv6: 'ip6' } as const;
const VERSIONS = ['names-of-kube-proxy', 'first-digests'] as const;

/** The proxy starts where a former version of it ran in mode nftables. */
export const formerVersion: StepKind = {
  name: 'former-version',
  weight: 0,
  plan: ({ random }) => [random.pick(VERSIONS)],
  perform(simulation, [version = '']) {
    const { everyCommit, world } = simulation;
    const left = leftBy(version);
    everyCommit.damage(() => {
      for (const family of world.settings.families) write(world.machine.nfTables, family, left[family]);
    });
    servedByOthers(simulation, 'nftables');
  },
};

/** Its Services are there, in the place of those of their names, and then its rules. */
export function afterFormerVersion(plan: Plan): readonly Step[] {
  const args = formerVersion.plan(plan)!;
  const services = leftBy(args[0]!).services.map((text) => text.split(' '));
  for (const [name = '', ...description] of services) plan.services.set(name, parseDescription(description));
  while (plan.next() < services.length);
  return [
    ...services.map((each) => ({ at: 0, name: 'put', args: each })),
    { at: 0, name: formerVersion.name, args },
  ];
}

function write(nfTables: NfTables, family: IpFamily, messages: readonly string[]): void {
  const batch = new ForeignBatch(NFT_FAMILY[family], TABLE);
  for (const message of messages) {
    const [kind = '', attributes = ''] = message.split(' ');
    batch.addListed(Number(kind), Buffer.from(attributes, 'hex'));
  }
  const errors = nfTables.transact(STRANGER, batch.end());
  if (errors.length > 0)
    throw new Error(`what a former version left is refused: errors ${errors.join(', ')}`);
}

function leftBy(version: string): Left {
  const file = resolve('test/simulation/recorded', `${version}.json.gz`);
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as Left;
}
