import type { StepKind } from '../schedule/step-kind.js';
import type { Deed } from './foreign/deed.js';
import { IPTABLES_DEEDS } from './foreign/iptables.js';
import { NFTABLES_DEEDS } from './foreign/nftables.js';
import { OTHER_DEEDS } from './foreign/sets-and-servers.js';

const DEEDS: Readonly<Record<string, Deed>> = { ...NFTABLES_DEEDS, ...IPTABLES_DEEDS, ...OTHER_DEEDS };

/** Another program changes what the kernel has, of the proxy's or of its own. */
export const foreign: StepKind = {
  name: 'foreign',
  weight: 4,
  plan(plan) {
    const possible = Object.keys(DEEDS).filter((name) => DEEDS[name]!.isPossible(plan));
    return [plan.pick('foreign', possible), String(plan.random.between(0, 999))];
  },
  perform(simulation, [name = '', choice = '0']) {
    const deed = DEEDS[name];
    if (!deed)
      throw new Error(`nothing that others do is called ${name}; there are ${Object.keys(DEEDS).join(', ')}`);
    const act = (): void => deed.do(simulation, Number(choice));
    // Nobody repairs rules of a mode that runs no more: they are removed once those of the present one serve.
    const isLasting = [...simulation.modes].some((mode) => mode !== simulation.mode);
    if (!deed.isHarm) return act();
    simulation.mayForgetFrontends = true;
    simulation.everyCommit.damage(act, isLasting);
  },
};
