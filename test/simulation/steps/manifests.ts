import type { StepKind } from '../schedule/step-kind.js';

/** A manifest is edited in place: for a while it is only partly there. */
export const tear: StepKind = {
  name: 'tear',
  weight: 2,
  plan(plan) {
    const { settings, random } = plan;
    const service = settings.source === 'manifests' ? plan.pickService() : undefined;
    if (service === undefined) return undefined;
    const share = random.pick(['0', '0.3', '0.7', '0.99']);
    return [service, share, String(random.pick([5, 300, 5_000]))];
  },
  perform({ world, cluster: { manifests } }, [name = '', share = '0', pause = '0']) {
    manifests?.tear(name, Number(share));
    world.scheduler.after(Number(pause), () => manifests?.mend(name), world.fate);
  },
};
