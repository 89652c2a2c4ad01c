import type { Faults } from '../kernel/programs/faults.js';
import type { Plan } from '../schedule/plan.js';
import type { StepKind } from '../schedule/step-kind.js';
import type { Simulation } from '../simulation.js';

const LOCKED = 'Another app is currently holding the xtables lock. Perhaps you want to use the -w option?\n';
const STDERR: Readonly<Record<string, string>> = {
  '1': 'iptables-restore: line 7 failed\n',
  '2': "iptables-restore v1.8.9 (legacy): Couldn't load match `comment':No such file or directory\n",
  '4': LOCKED,
  '137': '',
};
/** With 1 and 2 these say that there is no such chain or extension, or no kernel for it, and are believed. */
const BELIEVED: ReadonlySet<string> = new Set(['iptables', 'ip6tables', 'save']);
const OTHER_CODES = ['4', '137'];
const TIMES = ['1', '1', '3', '12', 'all'];
const REASONS = [
  'Invalid argument',
  'No such file or directory',
  'Cannot allocate memory',
  'Operation not permitted',
];
const SET_REASONS = [
  'Kernel error received: set type not supported',
  'Hash is full, cannot add more elements',
];
/** Words that stand for themselves in an argument, which has no spaces. */
const SPACE = '_';

interface Fault {
  plan(plan: Plan, program: string): readonly string[];
  begin(simulation: Simulation, args: readonly string[]): void;
}

const withFaults =
  (begin: (faults: Faults, args: readonly string[]) => void) =>
  ({ world: { machine } }: Simulation, args: readonly string[]) =>
    begin(machine.programs.faults, args);

const FAULTS: Readonly<Record<string, Fault>> = {
  fails: {
    plan: (plan, program) => [
      program,
      plan.pick('exit code', BELIEVED.has(program) ? OTHER_CODES : Object.keys(STDERR)),
      plan.random.pick(['before', 'after']),
      plan.pick('times', TIMES),
    ],
    begin: withFaults((faults, [of = '', code = '1', when = 'before', times = '1']) =>
      faults.fail({
        of,
        exitCode: Number(code),
        stderr: STDERR[code] ?? '',
        when: when as 'before' | 'after',
        times: countOf(times),
      }),
    ),
  },
  killed: {
    plan: (plan, program) => [program, String(plan.random.between(0, 6)), plan.pick('times', TIMES)],
    begin: withFaults((faults, [of = '', killedAfter = '0', times = '1']) =>
      faults.trouble({ of, killedAfter: Number(killedAfter), times: countOf(times) }),
    ),
  },
  hangs: {
    plan: ({ random }, program) => [program, random.pick(['200', '5000', '200000']), random.pick(['1', '3'])],
    begin: withFaults((faults, [of = '', hangs = '0', times = '1']) =>
      faults.trouble({ of, hangs: Number(hangs), times: countOf(times) }),
    ),
  },
  'output-lost': {
    plan: (plan, program) => [program, plan.random.pick(['0', '30', '400']), plan.pick('times', TIMES)],
    begin: withFaults((faults, [of = '', letters = '0', times = '1']) =>
      faults.trouble({ of, killedAtOutput: Number(letters), times: countOf(times) }),
    ),
  },
  missing: {
    plan: ({ settings, random }) => [
      random.pick([
        ...['iptables', 'ip6tables'].flatMap((base) =>
          ['restore', 'save'].map((does) => `${base}-${settings.iptables}-${does}`),
        ),
        ...(settings.mode === 'ipvs' ? ['ipset', 'modprobe'] : []),
      ]),
    ],
    begin: withFaults((faults, [name = '']) => faults.missing.add(name)),
  },
  'lock-held': {
    plan: ({ random }) => [random.pick(['100', '2000', '60000'])],
    begin({ world: { machine } }, [milliseconds = '0']) {
      const { lock } = machine.programs;
      const holder = {};
      if (lock.take(holder)) machine.endAfter(Number(milliseconds), () => lock.release(holder));
    },
  },
  'rules-refused': {
    plan: (plan) => [
      plan.pickService() ?? 'KUBE',
      plan.pick('reason', REASONS).replaceAll(' ', SPACE),
      plan.pick('times', TIMES),
    ],
    begin: withFaults((faults, [text = '', reason = '', times = '1']) =>
      faults.refuseRules(text, countOf(times), reason.replaceAll(SPACE, ' ')),
    ),
  },
  'set-lines-refused': {
    plan(plan) {
      const { random, services } = plan;
      const service = services.get(plan.pickService() ?? '');
      return [
        service && random.isOneIn(2)
          ? `10.96.1.${service.number},`
          : random.pick(['KUBE-CLUSTER-IP', 'KUBE-LOOP-BACK', 'KUBE']),
        plan.pick('set reason', SET_REASONS).replaceAll(' ', SPACE),
        plan.pick('times', TIMES),
      ];
    },
    begin: withFaults((faults, [text = '', reason = '', times = '1']) =>
      faults.refuseSetLines(text, countOf(times), reason.replaceAll(SPACE, ' ')),
    ),
  },
};

/** Programs that the proxy starts do not do what they should. They do again after so many times, or when all trouble ends. */
export const programFault: StepKind = {
  name: 'program-fault',
  weight: 4,
  plan(plan) {
    const { settings } = plan;
    if (settings.mode === 'nftables') return undefined;
    const possible = Object.keys(FAULTS).filter(
      (name) => settings.mode === 'ipvs' || name !== 'set-lines-refused',
    );
    const name = plan.pickAsked('program-fault', possible);
    if (name === undefined) return undefined;
    const programs = [
      'restore',
      'save',
      'iptables',
      'ip6tables',
      ...(settings.mode === 'ipvs' ? ['ipset', 'modprobe'] : []),
    ];
    return [name, ...FAULTS[name]!.plan(plan, plan.pick('program', programs))];
  },
  perform(simulation, [name = '', ...args]) {
    const fault = FAULTS[name];
    if (!fault)
      throw new Error(`no fault of programs is called ${name}; there are ${Object.keys(FAULTS).join(', ')}`);
    fault.begin(simulation, args);
  },
};

function countOf(text: string): number {
  return text === 'all' ? Infinity : Number(text);
}
