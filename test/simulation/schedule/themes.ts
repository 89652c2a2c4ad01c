/**
 * What the steps of a world have in common. Two rare faults hardly ever meet where everything may happen; where little may, they do so often
 * ("swarm testing").
 */
export interface Theme {
  readonly name: string;
  /** How often a world has it beside the others. Missing: 1. */
  readonly weight?: number;
  /** Names of the kinds of steps that happen, besides those of users. */
  readonly steps: readonly string[];
  /** What is chosen from, by the names with which `Plan.pick` is asked. A choice that is not limited here is limited by chance. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** The steps with which each round begins, one of each of these kinds. It begins when all is quiet. */
  readonly begins?: readonly (readonly string[])[];
  /** So many Services are there at least when the program starts, or a last round begins. */
  readonly services?: number;
  /** A step that picks a Service picks the one that was picked before, but for one time in so many. Missing: 2. */
  readonly otherServiceOneIn?: number;
  /** Milliseconds between its steps, one of these each time. Missing: any, most of them short. */
  readonly pauses?: readonly number[];
  /** Users change nothing. */
  readonly isWithoutUsers?: boolean;
  /** What goes wrong, does so before the program starts. */
  readonly isTroubledAtStart?: boolean;
}

export const OF_RULES = ['EINVAL', 'ENOENT', 'EEXIST'];
/** Errors that say nothing of what is written. */
export const OF_THE_MOMENT = ['ENOMEM', 'ENOBUFS', 'EBUSY', 'EAGAIN'];
/** After these changes of a Service there are new rules with its address in them, or its name. */
export const OF_RULES_OF_ALL_MODES = ['ports', 'type', 'affinity', 'no-pods'];
const REFUSAL = ['kernel-fault', 'program-fault'];
const ENDS = ['kill', 'terminate', 'restart'];
const REFUSED_FOR_GOOD = {
  'kernel-fault': ['service'],
  'program-fault': ['rules-refused', 'set-lines-refused'],
  error: OF_RULES,
  reason: ['Invalid argument', 'No such file or directory'],
  times: ['all'],
};

/** Combinations that have to meet to show something. */
export const THEMES: readonly Theme[] = [
  {
    name: 'rules of a Service are refused',
    weight: 7,
    steps: ['delete'],
    services: 2,
    begins: [REFUSAL, ['put']],
    otherServiceOneIn: 3,
    choices: { ...REFUSED_FOR_GOOD, change: OF_RULES_OF_ALL_MODES },
  },
  {
    name: 'a Service is deleted while all is refused',
    weight: 4,
    steps: ['delete'],
    services: 2,
    begins: [REFUSAL, ['delete']],
    choices: {
      'kernel-fault': ['batches', 'virtual-servers'],
      'program-fault': ['rules-refused', 'set-lines-refused', 'fails'],
      program: ['restore'],
      'exit code': ['1'],
      error: OF_RULES,
      reason: ['Invalid argument'],
      count: ['30', 'all'],
      times: ['12', 'all'],
    },
  },
  {
    name: 'rules are refused when the program starts again',
    weight: 8,
    steps: REFUSAL,
    services: 2,
    begins: [['terminate'], REFUSAL, ['put']],
    otherServiceOneIn: 8,
    choices: {
      ...REFUSED_FOR_GOOD,
      change: OF_RULES_OF_ALL_MODES,
      pods: ['1', '2', '3'],
      pause: ['10', '300'],
    },
  },
  {
    name: 'errors of the moment',
    weight: 2,
    steps: ['kernel-fault'],
    choices: {
      'kernel-fault': ['batches', 'virtual-servers', 'route', 'nfacct'],
      error: OF_THE_MOMENT,
      count: ['5', '30', 'all'],
    },
  },
  {
    name: 'tools fail for the moment',
    weight: 2,
    steps: ['program-fault'],
    choices: {
      'program-fault': ['fails', 'killed', 'rules-refused', 'set-lines-refused'],
      reason: ['Cannot allocate memory'],
      'exit code': ['4'],
    },
  },
  {
    name: 'something fails for a moment',
    steps: ['kernel-fault', 'program-fault', 'delete'],
    choices: {
      'kernel-fault': ['batches', 'virtual-servers', 'route-lists', 'service'],
      'program-fault': ['fails', 'rules-refused', 'set-lines-refused', 'output-lost'],
      count: ['1', '2', '5'],
      times: ['1', '3'],
      error: OF_RULES,
      reason: ['Invalid argument'],
    },
  },
  { name: 'it starts in trouble', steps: ['kernel-fault', 'program-fault'], isTroubledAtStart: true },
  {
    name: 'lists are torn',
    steps: ['kernel-fault', 'program-fault', 'foreign'],
    choices: {
      'kernel-fault': ['commits', 'conntrack-lists-interrupted', 'notifications', 'route-lists'],
      'program-fault': ['output-lost', 'killed'],
    },
  },
  {
    name: 'watches go on',
    steps: ['trouble'],
    choices: {
      trouble: ['watches-end', 'watches-end-at-once', 'watches-cut', 'bookmarks', 'connections-break'],
    },
  },
  {
    name: 'watches begin anew',
    steps: ['trouble', 'delete', 'take-over'],
    choices: {
      trouble: [
        'gone-as-status',
        'history-compacted',
        'watches-expire',
        'refused',
        'unreachable',
        'server-errors',
        'pages-expire',
        'slow-pages',
        'too-many-requests',
        'torn-events',
        'torn-objects',
      ],
    },
  },
  {
    name: 'the node changes',
    steps: ['node', 'kernel-fault'],
    choices: { node: ['second-address', 'second-address-gone', 'labeled'], 'kernel-fault': ['route-lists'] },
  },
  {
    name: 'first and last endpoints',
    weight: 3,
    steps: ['flows', 'delete'],
    choices: {
      pods: ['0', '1'],
      change: ['pod-added', 'no-pods', 'pod-removed'],
      type: ['nodeport', 'balancer', 'external'],
      'external policy': ['Local'],
    },
  },
  { name: 'addresses change hands', steps: ['take-over'], choices: { 'former Service': ['100', '2000'] } },
  {
    name: 'pods come and go',
    steps: ['flows'],
    choices: { change: ['pod-added', 'pod-removed', 'pod-ages', 'no-pods'] },
  },
  { name: 'nobody is there', steps: [...ENDS, 'flows', 'delete'] },
  {
    name: 'others write while no proxy runs',
    steps: [...ENDS, 'foreign'],
    begins: [['terminate']],
    choices: { pause: ['2000', '15000'] },
  },
  {
    name: 'others take little things away while nobody is there',
    weight: 3,
    steps: ['foreign'],
    services: 1,
    begins: [['terminate']],
    isWithoutUsers: true,
    choices: {
      pause: ['15000'],
      foreign: [
        'delete-element',
        'flush-set',
        'move-rule',
        'iptables-delete-rule',
        'iptables-move-rule',
        'ipset-delete',
        'address-removed',
      ],
    },
  },
  {
    name: 'others and users write at once',
    weight: 3,
    steps: ['flows'],
    services: 2,
    begins: [['foreign'], ['put']],
    choices: {
      foreign: ['delete-element', 'delete-rule', 'flush-set', 'iptables-delete-rule', 'ipset-delete'],
    },
  },
  {
    name: 'tools cannot work when it starts',
    weight: 3,
    steps: ['program-fault'],
    isTroubledAtStart: true,
    choices: {
      'program-fault': ['lock-held', 'fails', 'killed'],
      program: ['iptables', 'ip6tables'],
      'exit code': ['4', '137'],
      times: ['3', '12', 'all'],
    },
  },
  {
    name: 'the last pods end',
    weight: 3,
    steps: ['flows'],
    services: 1,
    begins: [['put']],
    otherServiceOneIn: 4,
    choices: { pods: ['1', '2'], change: ['pod-drains', 'pod-ages'] },
  },
  {
    name: 'the API server is busy',
    weight: 2,
    steps: ['delete'],
    services: 2,
    begins: [['trouble'], ['put']],
    choices: { trouble: ['too-many-requests'] },
  },
  {
    name: 'what goes while the API server is away',
    weight: 3,
    steps: ['delete', 'take-over'],
    services: 2,
    begins: [['trouble'], ['delete']],
    choices: { trouble: ['away'] },
  },
];
