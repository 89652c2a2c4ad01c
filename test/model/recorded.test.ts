import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { parseVerdicts } from '../support/recorded/scenarios.js';
import { planOf } from '../support/testbed/probe-plan.js';
import type { Configuration, Mode } from './objects.js';
import { TestbedModel, type Seen } from './testbed-model.js';

// The recordings of kube-proxy, with the packets of the test bed, are the proof of the model.

const root = fileURLToPath(new URL('../conformance/scenarios/', import.meta.url));
const MODES: readonly Mode[] = ['nftables', 'iptables', 'ipvs'];

describe.each(MODES)('the model agrees with kube-proxy in %s mode', (mode) => {
  const steps = readdirSync(root).flatMap((scenario) =>
    readdirSync(`${root}${scenario}/expected/${mode}`).flatMap((file) => {
      const [, six = '', step] = /^packets(6?)-(\d+)\.json$/.exec(file) ?? [];
      return step === undefined
        ? []
        : [{ scenario, step, family: six === '' ? 'ipv4' : 'ipv6', file } as const];
    }),
  );

  it.each(steps)('$scenario $step $family', ({ scenario, step, family, file }) => {
    const folder = `${root}${scenario}`;
    const objects = readFileSync(`${folder}/objects-${step}.yaml`, 'utf8');
    const recorded = parseVerdicts(readFileSync(`${folder}/expected/${mode}/${file}`, 'utf8'));
    const configuration = parse(readFileSync(`${folder}/config.yaml`, 'utf8')) as Omit<Configuration, 'mode'>;
    const model = new TestbedModel(objects, { ...configuration, mode });
    const targets = new Map(planOf(objects, family).map((target) => [target.label, target]));
    const expected: Record<string, Seen> = {};
    for (const key of Object.keys(recorded)) {
      const [label, client] = key.split(' from ') as [string, string];
      const allowed = model.expected(targets.get(label)!, client);
      expected[key] = allowed.find((one) => isDeepStrictEqual(one, recorded[key])) ?? allowed[0]!;
    }
    expect(Object.keys(recorded).length).toBeGreaterThan(0);
    expect(expected).toEqual(recorded);
  });
});
