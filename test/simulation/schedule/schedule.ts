import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import { MODES, type Mode, type WorldSettings } from '../world/settings.js';

/** Something that happens in a world. */
export interface Step {
  /** Milliseconds after the world began. */
  readonly at: number;
  readonly name: string;
  readonly args: readonly string[];
}

/** All that is decided about a world before it begins; what is left to chance follows from the seed. */
export interface Schedule {
  readonly settings: WorldSettings;
  readonly steps: readonly Step[];
}

/** A schedule as people read it, a line for each step. */
export function scheduleText({ settings, steps }: Schedule): string {
  const { seed, mode, families, kernel, iptables, source, arguments: given } = settings;
  return [
    `seed ${seed}`,
    `mode ${mode}`,
    `families ${families.join(' ')}`,
    `kernel ${kernel}`,
    `iptables ${iptables}`,
    `source ${source}`,
    ...(given.length > 0 ? [`arguments ${given.join(' ')}`] : []),
    ...steps.map(({ at, name, args }) => [`${(at / 1000).toFixed(3)}`, name, ...args].join(' ')),
    '',
  ].join('\n');
}

/** @throws Error that names the line */
export function parseSchedule(text: string): Schedule {
  const settings = new Map<string, string>();
  const steps: Step[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [first = '', ...rest] = line.trim().split(/ +/);
    if (!/^\d/.test(first)) settings.set(first, rest.join(' '));
    else if (rest[0] !== undefined)
      steps.push({ at: Math.round(Number(first) * 1000), name: rest[0], args: rest.slice(1) });
    else throw new Error(`nothing happens in the line ${JSON.stringify(line)}`);
  }
  return { settings: settingsOf(settings), steps };
}

function settingsOf(given: ReadonlyMap<string, string>): WorldSettings {
  const of = (name: string): string => {
    const value = given.get(name);
    if (value === undefined) throw new Error(`the schedule has no line ${JSON.stringify(name)}`);
    return value;
  };
  const oneOf = <T extends string>(name: string, values: readonly T[]): T => {
    const value = of(name) as T;
    if (!values.includes(value)) throw new Error(`${name} is one of ${values.join(', ')}, not ${value}`);
    return value;
  };
  return {
    seed: Number(of('seed')),
    mode: oneOf<Mode>('mode', MODES),
    families: of('families')
      .split(' ')
      .filter((family): family is IpFamily => IP_FAMILIES.includes(family as IpFamily)),
    nodeName: 'node-1',
    kernel: of('kernel'),
    iptables: oneOf('iptables', ['nft', 'legacy']),
    source: oneOf('source', ['api', 'manifests']),
    arguments: (given.get('arguments') ?? '').split(' ').filter((argument) => argument !== ''),
  };
}
