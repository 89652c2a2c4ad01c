import type { Simulation } from '../../simulation.js';
import { isBuiltIn } from '../../kernel/programs/tables/table.js';
import { chosenOf, type Deed } from './deed.js';

const TABLES = ['filter', 'nat', 'mangle'];
/** Of the kubelet. */
const OTHERS = /^KUBE-(IPTABLES-HINT|KUBELET-CANARY)/;
/** From nowhere that anybody of the simulated world is. */
const NOWHERE = '198.18.0.0/15';

const inIptables: Deed['isPossible'] = ({ settings }) => settings.mode !== 'nftables';

const KUBE_PROXY = `*nat
:KUBE-SERVICES - [0:0]
:KUBE-NODEPORTS - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-MARK-MASQ - [0:0]
-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
-A KUBE-POSTROUTING -j MARK --xor-mark 0x4000
-A KUBE-POSTROUTING -j MASQUERADE --random-fully
-A KUBE-MARK-MASQ -j MARK --or-mark 0x4000
COMMIT
`;

interface Place {
  readonly table: string;
  readonly chain: string;
  readonly rules: readonly string[];
}

/** Runs iptables of the variant that counts. */
function run(
  { world: { machine, settings } }: Simulation,
  choice: number,
  words: readonly string[],
  input = '',
  program = '',
): string {
  const family = chosenOf(settings.families, choice);
  const base = family === 'IPv6' ? 'ip6tables' : 'iptables';
  return machine.programs.run([`${base}-${settings.iptables}${program}`, ...words], input).stdout;
}

/** The proxy's own chains. */
function ownChains({ world: { machine, settings } }: Simulation, choice: number): readonly Place[] {
  const family = chosenOf(settings.families, choice)!;
  return machine.programs
    .tables(family, settings.iptables)
    .flatMap(({ name, chains }) =>
      chains
        .filter((chain) => chain.name.startsWith('KUBE-') && !OTHERS.test(chain.name))
        .map((chain) => ({ table: name, chain: chain.name, rules: chain.rules })),
    );
}

/** Harms one of the proxy's chains. */
const toChain = (
  harm: (place: Place, choice: number) => readonly string[],
  mayBe: (place: Place) => boolean = () => true,
): Deed => ({
  isHarm: true,
  isPossible: inIptables,
  do(simulation, choice) {
    const place = chosenOf(ownChains(simulation, choice), Math.floor(choice / 2));
    if (place && mayBe(place)) run(simulation, choice, ['-t', place.table, ...harm(place, choice)]);
  },
});

/** Deletes a rule and adds it again at the end of its chain, at once. */
function moveToEnd(simulation: Simulation, choice: number, { table, chain }: Place, rule: string): void {
  const lines = [`*${table}`, `-D ${chain} ${rule}`, `-A ${chain} ${rule}`, 'COMMIT', ''];
  run(simulation, choice, ['--noflush'], lines.join('\n'), '-restore');
}

/** Adds a rule to a built-in chain that concerns nobody. */
const around = (how: '-I' | '-A'): Deed => ({
  isHarm: false,
  isPossible: inIptables,
  do(simulation, choice) {
    const family = chosenOf(simulation.world.settings.families, choice);
    const source = family === 'IPv6' ? '2001:2::/48' : NOWHERE;
    const [table, chain] = chosenOf(
      [
        ['filter', 'FORWARD'],
        ['filter', 'INPUT'],
        ['nat', 'PREROUTING'],
        ['nat', 'POSTROUTING'],
        ['filter', 'OUTPUT'],
      ] as const,
      choice,
    )!;
    run(simulation, choice, [
      '-t',
      table,
      how,
      chain,
      '-s',
      source,
      '-j',
      table === 'filter' ? 'DROP' : 'ACCEPT',
    ]);
  },
});

/** What a firewall saved when it was last asked to, by variant and family. */
const saved = new WeakMap<Simulation, Map<number, string>>();

/** What other programs do with iptables. */
export const IPTABLES_DEEDS: Readonly<Record<string, Deed>> = {
  'iptables-flush-chain': toChain(({ chain }) => ['-F', chain]),
  'iptables-delete-rule': toChain(({ chain }, choice) => ['-D', chain, String(1 + (choice % 3))]),
  // The kubelet has the firewall's chain, too, so that rules of others in it stay.
  'iptables-insert-into-ours': toChain(
    ({ chain }, choice) => ['-I', chain, '-j', choice % 2 === 0 ? 'ACCEPT' : 'RETURN'],
    ({ chain }) => chain !== 'KUBE-FIREWALL',
  ),
  'iptables-move-rule': {
    isHarm: true,
    isPossible: inIptables,
    do(simulation, choice) {
      const longer = ownChains(simulation, choice).filter(({ rules }) => rules.length > 1);
      const place = chosenOf(longer, Math.floor(choice / 2));
      if (place) moveToEnd(simulation, choice, place, place.rules[choice % (place.rules.length - 1)]!);
    },
  },
  /** A jump that has moved further down stays there (docs/internals/iptables.md), and all are served as before. */
  'iptables-move-jump': {
    isHarm: false,
    isPossible: inIptables,
    do(simulation, choice) {
      const { machine, settings } = simulation.world;
      const jumps = machine.programs
        .tables(chosenOf(settings.families, choice)!, settings.iptables)
        .flatMap(({ name, chains }) =>
          chains
            .filter((chain) => isBuiltIn(name, chain.name))
            .map((chain) => ({ table: name, chain: chain.name, rules: chain.rules })),
        )
        .flatMap((place) =>
          place.rules.filter((rule) => rule.includes('-j KUBE-')).map((rule) => ({ place, rule })),
        );
      const found = chosenOf(jumps, Math.floor(choice / 2));
      if (found) moveToEnd(simulation, choice, found.place, found.rule);
    },
  },
  'iptables-flush-table': {
    isHarm: true,
    isPossible: inIptables,
    do: (simulation, choice) => void run(simulation, choice, ['-t', chosenOf(TABLES, choice)!, '-F']),
  },
  'iptables-delete-jump': {
    isHarm: true,
    isPossible: inIptables,
    do(simulation, choice) {
      const [table, chain] = chosenOf(
        [
          ['nat', 'PREROUTING'],
          ['nat', 'OUTPUT'],
          ['nat', 'POSTROUTING'],
          ['filter', 'FORWARD'],
          ['filter', 'INPUT'],
        ] as const,
        choice,
      )!;
      run(simulation, choice, ['-t', table, '-D', chain, '1']);
    },
  },
  /** kube-proxy starts beside the proxy, as yet without Services. */
  'kube-proxy-iptables': {
    isHarm: true,
    isPossible: inIptables,
    do: (simulation, choice) => void run(simulation, choice, ['--noflush'], KUBE_PROXY, '-restore'),
  },
  'iptables-insert': around('-I'),
  'iptables-append': around('-A'),
  /** A firewall restores its own rules, without those of anybody else. */
  'iptables-reload': {
    isHarm: true,
    isPossible: inIptables,
    do(simulation, choice) {
      const table = chosenOf(['filter', 'nat'], choice)!;
      const text = run(simulation, choice, ['-t', table], '', '-save');
      const own = text
        .split('\n')
        .filter((line) => !line.includes('KUBE-'))
        .join('\n');
      run(simulation, choice, [], own, '-restore');
    },
  },
  /** A firewall saves all rules, those of the proxy with them … */
  'iptables-save': {
    isHarm: false,
    isPossible: inIptables,
    do(simulation, choice) {
      const known = saved.get(simulation) ?? new Map<number, string>();
      saved.set(simulation, known);
      known.set(choice % 2, run(simulation, choice, [], '', '-save'));
    },
  },
  /** … and restores them later. */
  'iptables-restore-saved': {
    isHarm: true,
    isPossible: inIptables,
    do(simulation, choice) {
      const text = saved.get(simulation)?.get(choice % 2);
      if (text !== undefined) run(simulation, choice, [], text, '-restore');
    },
  },
};
