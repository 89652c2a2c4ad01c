import { nftFamily } from '../../../src/domain/nftables/layout/table.js';
import { ForeignBatch } from '../kernel/nf-tables/foreign-batch.js';
import { DATA, ELEMENT } from '../kernel/nf-tables/numbers.js';
import type { Table } from '../kernel/nf-tables/objects.js';
import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';
import { familyOf, idsIn, idsMet } from './affinity-ids.js';

const TABLE = 'kube-proxy';
const MEMORY = 'affinity';
/** Nobody whose packets are looked at: they would go on to one endpoint. For milliseconds: longer than a world lasts, … */
const CLIENTS = [
  {
    IPv4: Buffer.from([203, 0, 113, 99]),
    IPv6: Buffer.from('20010db8ffff00000000000000000099', 'hex'),
    lasts: 36_000_000n,
  },
  /** … and until it is forgotten within one. */
  {
    IPv4: Buffer.from([203, 0, 113, 98]),
    IPv6: Buffer.from('20010db8ffff00000000000000000098', 'hex'),
    lasts: 2_000n,
  },
];
/** Simulated milliseconds within which it is gone. */
const LIMIT = 5_000;
const LOOK_EVERY = 500;

/** Clients are remembered for each endpoint of a frontend with session affinity, as their packets would be in mode nftables. */
export function rememberClient(simulation: Simulation): void {
  const { machine } = simulation.world;
  for (const table of tablesOf(machine.nfTables.tables)) {
    const ids = [...idsMet(simulation, table)];
    const family = familyOf(table);
    const elements = CLIENTS.flatMap(({ [family]: client, lasts }) => {
      const timeout = Buffer.alloc(8);
      timeout.writeBigUInt64BE(lasts);
      return ids.map((id) => [
        {
          type: ELEMENT.KEY,
          value: [{ type: DATA.VALUE, value: Buffer.concat([Buffer.from(id, 'hex'), client]) }],
        },
        { type: ELEMENT.TIMEOUT, value: timeout },
      ]);
    });
    if (elements.length === 0) continue;
    const batch = new ForeignBatch(nftFamily(family), TABLE);
    machine.nfTables.transact(0, batch.addElements(MEMORY, elements).end());
  }
}

/**
 * A client that is remembered for an endpoint to which no rules lead; undefined if there is none. What the kernel rejects to remove goes
 * after a later change.
 */
export async function abandonedMemory(
  { mode, world }: Simulation,
  steps: readonly Step[],
): Promise<string | undefined> {
  if (mode !== 'nftables' || steps.some(({ name }) => name === 'kernel-fault')) return undefined;
  for (const end = world.now + LIMIT; ; await world.scheduler.runUntil(world.now + LOOK_EVERY)) {
    const found = tablesOf(world.machine.nfTables.tables).flatMap((table) => abandonedIn(table, world.now));
    if (found.length === 0) return undefined;
    if (world.now > end) return `${found.length} clients of endpoints that are gone, as ${found[0]}`;
  }
}

function abandonedIn(table: Table, now: number): readonly string[] {
  const ids = idsIn(table);
  const remembered = [...(table.sets.get(MEMORY)?.elements.values() ?? [])].filter(
    ({ expires }) => expires > now,
  );
  return remembered.map(({ key }) => key!.toString('hex')).filter((key) => !ids.has(key.slice(0, 8)));
}

function tablesOf(tables: Iterable<Table>): readonly Table[] {
  return [...tables].filter(({ name }) => name === TABLE);
}
