import { COUNTER, ForeignBatch, verdict } from '../../kernel/nf-tables/foreign-batch.js';
import { FAMILY, SET_FLAG } from '../../kernel/nf-tables/numbers.js';
import { isFlagged, type Rule, type Table } from '../../kernel/nf-tables/objects.js';
import type { Simulation } from '../../simulation.js';
import { chosenOf, STRANGER, type Deed } from './deed.js';

const OURS = 'kube-proxy';
const FIREWALL = 'firewall';
const PREROUTING = 0;
const FORWARD = 2;

const inNftables: Deed['isPossible'] = ({ settings }) => settings.mode === 'nftables';

/** Harms one of the proxy's tables. */
const toTable = (harm: (batch: ForeignBatch, table: Table, choice: number) => void): Deed => ({
  isHarm: true,
  isPossible: inNftables,
  do(simulation, choice) {
    const tables = [...simulation.world.machine.nfTables.tables].filter(({ name }) => name === OURS);
    const table = chosenOf(tables, choice);
    if (!table) return;
    const batch = new ForeignBatch(table.family === FAMILY.IP ? 'ip' : 'ip6', OURS);
    harm(batch, table, Math.floor(choice / 2));
    transact(simulation, batch);
  },
});

/** What other programs do to tables of nf_tables, with `nft` or by themselves. */
export const NFTABLES_DEEDS: Readonly<Record<string, Deed>> = {
  'flush-ruleset': {
    isHarm: true,
    isPossible: () => true,
    do(simulation) {
      transact(simulation, new ForeignBatch('any', '').flushRuleset());
      const { programs } = simulation.world.machine;
      for (const family of ['IPv4', 'IPv6'] as const)
        programs.tableSet(family, 'nft').clear({ pid: STRANGER, name: 'nft' });
    },
  },
  'delete-table': toTable((batch) => batch.deleteTable()),
  'flush-table': toTable((batch) => batch.flush()),
  'flush-chain': toTable((batch, { chains }, choice) => {
    const chain = chosenOf([...chains.keys()], choice);
    if (chain !== undefined) batch.flush(chain);
  }),
  'delete-rule': toTable((batch, { chains }, choice) => {
    const rule = chosenOf(
      [...chains.values()].flatMap(({ rules }) => rules),
      choice,
    );
    if (rule) batch.deleteRule(rule.chain.name, rule.handle);
  }),
  'move-rule': toTable((batch, { chains }, choice) => {
    const movable = [...chains.values()]
      .filter(({ rules }) => rules.length > 1)
      .flatMap(({ rules }) => rules.filter((one) => !hasSetOfItsOwn(one)));
    const rule = chosenOf(movable, choice);
    if (rule) batch.moveRule(rule, rule === rule.chain.rules.at(-1) ? 'first' : 'last');
  }),
  'add-rule': toTable((batch, { chains }, choice) => {
    const chain = chosenOf([...chains.keys()], choice);
    if (chain !== undefined)
      batch.addRule(
        chain,
        [COUNTER, verdict(choice % 3 === 0 ? 'DROP' : 'ACCEPT')],
        choice % 5 > 0 ? 'first' : 'last',
      );
  }),
  'add-chain': toTable((batch) => batch.addChain({ name: 'of-others' }).addRule('of-others', [COUNTER])),
  'flush-set': toTable((batch, { sets }, choice) => {
    const set = chosenOf([...sets.keys()], choice);
    if (set !== undefined) batch.deleteElements(set);
  }),
  'delete-element': toTable((batch, { sets }, choice) => {
    const elements = [...sets.values()].flatMap((set) =>
      [...set.elements.values()].map((element) => ({ set: set.name, element })),
    );
    const found = chosenOf(elements, choice);
    if (found?.element.key) batch.deleteElements(found.set, [found.element.key]);
  }),
  /** kube-proxy starts beside the proxy: it writes the table of that name anew, as yet without Services. */
  'kube-proxy': toTable((batch) =>
    batch
      .deleteTable()
      .addTable()
      .addChain({ name: 'services' })
      .addChain({ name: 'nat-prerouting', hook: { type: 'nat', number: PREROUTING, priority: -100 } })
      .addRule('nat-prerouting', [verdict('JUMP', 'services')]),
  ),
  /** A firewall that has nothing to do with Services writes its table anew. */
  firewall: {
    isHarm: false,
    isPossible: () => true,
    do(simulation) {
      const { nfTables } = simulation.world.machine;
      const batch = new ForeignBatch('inet', FIREWALL);
      if (nfTables.view(FAMILY.INET, FIREWALL)) batch.deleteTable();
      batch
        .addTable()
        .addChain({ name: 'forward', hook: { type: 'filter', number: FORWARD, priority: -10 } });
      batch
        .addRule('forward', [COUNTER])
        .addChain({ name: 'later' })
        .addRule('later', [COUNTER, verdict('DROP')]);
      transact(simulation, batch);
    },
  },
};

/** It goes with the rule. */
function hasSetOfItsOwn({ expressions }: Rule): boolean {
  return expressions.some(({ set }) => set && isFlagged(set, SET_FLAG.ANONYMOUS));
}

/** What is refused, because it is not there any more or something needs it, has no effect. */
function transact({ world: { machine } }: Simulation, batch: ForeignBatch): void {
  machine.nfTables.transact(STRANGER, batch.end());
}
