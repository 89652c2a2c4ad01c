import {
  changed,
  describe,
  parseDescription,
  randomService,
  type ServiceDescription,
} from '../cluster/service-description.js';
import type { Plan } from '../schedule/plan.js';
import type { StepKind } from '../schedule/step-kind.js';

/** There are so many Services at most. */
const MOST = 7;

/** The arguments of a `put` that creates a Service. */
export function putNew(plan: Plan): readonly string[] {
  const number = plan.next();
  const name = `shop/s${number}`;
  const made = randomService(plan, number);
  plan.services.set(name, made);
  return [name, ...describe(made)];
}

/** A Service is created or changed, with its endpoints. */
export const put: StepKind = {
  name: 'put',
  weight: 12,
  plan(plan) {
    const { services, random } = plan;
    const former = services.size < MOST && random.isOneIn(5) ? undefined : plan.pickService();
    if (former === undefined) return putNew(plan);
    const made = changed(plan, services.get(former)!);
    services.set(former, made);
    return [former, ...describe(made)];
  },
  perform({ cluster }, [name = '', ...rest]) {
    cluster.putService(name, parseDescription(rest));
  },
};

/** A Service is deleted; its slices go a moment later, as the garbage collector is no faster. */
export const remove: StepKind = {
  name: 'delete',
  weight: 1,
  plan(plan) {
    const name = plan.services.size > 1 ? plan.pickService() : undefined;
    if (name === undefined) return undefined;
    plan.services.delete(name);
    return [name];
  },
  perform({ cluster }, [name = '']) {
    cluster.removeService(name);
  },
};

const GOES = 'former-goes=';
/** Milliseconds for which both have the address; undefined: the former goes first. */
const TOGETHER = [undefined, '100', '2000'];

/** A new Service takes the address of another one, which goes: before, or later. */
export const takeOver: StepKind = {
  name: 'take-over',
  weight: 1,
  plan(plan) {
    const { services } = plan;
    const former = services.size > 1 ? plan.pickService() : undefined;
    if (former === undefined) return undefined;
    const { number, ...rest } = services.get(former)!;
    const made: ServiceDescription = { ...rest, number, pods: randomService(plan, number).pods };
    const name = `shop/t${plan.next()}`;
    services.delete(former);
    services.set(name, made);
    const together = plan.pick('former Service', TOGETHER);
    return [former, name, ...describe(made), ...(together === undefined ? [] : [`${GOES}${together}`])];
  },
  perform({ cluster }, [former = '', name = '', ...rest]) {
    const together = rest.find((arg) => arg.startsWith(GOES))?.slice(GOES.length);
    if (together === undefined) cluster.removeService(former);
    else cluster.giveWay(former, name, Number(together));
    cluster.putService(name, parseDescription(rest));
  },
};
