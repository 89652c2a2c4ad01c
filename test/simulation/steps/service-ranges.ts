import type { StepKind } from '../schedule/step-kind.js';

/** Ranges beside that with which the world begins. */
const SECOND_RANGE = { IPv4: '10.97.0.0/16', IPv6: 'fd00:10:97::/112' } as const;
const FIRST = 'kubernetes';
const SECOND = 'second';

/** Ranges of cluster IPs are added and removed. */
export const serviceRanges: StepKind = {
  name: 'service-ranges',
  weight: 0,
  plan: (plan) =>
    plan.settings.source === 'api'
      ? [plan.pick('service ranges', ['second', 'second-gone', 'first-gone', 'first'])]
      : undefined,
  perform({ cluster }, [what = '']) {
    switch (what) {
      case 'first':
        return cluster.putServiceRange(FIRST);
      case 'second':
        return cluster.putServiceRange(SECOND, SECOND_RANGE);
      case 'first-gone':
        return cluster.removeServiceRange(FIRST);
      case 'second-gone':
        return cluster.removeServiceRange(SECOND);
      default:
        throw new Error(`no change of service ranges is called ${what}`);
    }
  },
};
