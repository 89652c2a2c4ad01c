import { KUBE_PROXY_MODES } from '../kube-proxy/kube-proxy.js';
import type { Step } from '../schedule/schedule.js';
import type { Plan } from '../schedule/plan.js';
import { LOCAL_BY_NODE } from '../world/settings.js';
import { afterFormerVersion } from './former-version.js';

/** Of so many worlds one begins after a former version of the proxy, … */
const ALL = 12;
/** … and so many as everybody's: with the rules of a kube-proxy whose process is gone. */
const AFTER_KUBE_PROXY = 3;
/** Milliseconds. */
const UNTIL_IT_SERVES = 3_000;

/** What happened before the proxy is started for the first time, and how long it takes. */
export function firstDay(plan: Plan): { readonly steps: readonly Step[]; readonly lasts: number } {
  const { random, settings } = plan;
  const drawn = random.between(1, ALL);
  if (settings.mode === 'userspace' || drawn > AFTER_KUBE_PROXY + 1) return { steps: [], lasts: 0 };
  // What former versions left was made for the network of all pods.
  if (drawn > AFTER_KUBE_PROXY && settings.arguments.includes(LOCAL_BY_NODE)) return { steps: [], lasts: 0 };
  if (drawn > AFTER_KUBE_PROXY) return { steps: afterFormerVersion(plan), lasts: 0 };
  const mode = random.pick([settings.mode, ...KUBE_PROXY_MODES]);
  const step = (at: number, ...args: readonly string[]): Step => ({ at, name: 'kube-proxy', args });
  return { steps: [step(0, 'start', mode), step(UNTIL_IT_SERVES, 'stop')], lasts: UNTIL_IT_SERVES };
}
