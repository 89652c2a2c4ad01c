import {
  changed,
  describe,
  parseDescription,
  randomService,
  type ServiceDescription,
} from '../cluster/service-description.js';
import type { StepKind } from '../schedule/step-kind.js';

/** A Service is created or changed, with its endpoints. */
export const put: StepKind = {
  name: 'put',
  weight: 12,
  plan({ services, random, next, settings: { mode } }) {
    const names = [...services.keys()];
    if (names.length === 0 || (names.length < 7 && random.isOneIn(5))) {
      const number = next();
      const name = `shop/s${number}`;
      const made = randomService(random, number, mode);
      services.set(name, made);
      return [name, ...describe(made)];
    }
    const name = random.pick(names);
    const made = changed(random, services.get(name)!);
    services.set(name, made);
    return [name, ...describe(made)];
  },
  perform({ cluster }, [name = '', ...rest]) {
    cluster.putService(name, parseDescription(rest));
  },
};

/** A Service is deleted; its slices go a moment later, as the garbage collector is no faster. */
export const remove: StepKind = {
  name: 'delete',
  weight: 1,
  plan({ services, random }) {
    if (services.size < 2) return undefined;
    const name = random.pick([...services.keys()]);
    services.delete(name);
    return [name];
  },
  perform({ cluster }, [name = '']) {
    cluster.removeService(name);
  },
};

/** A new Service takes the address of another one, which goes. */
export const takeOver: StepKind = {
  name: 'take-over',
  weight: 1,
  plan({ services, random, next, settings: { mode } }) {
    if (services.size < 2) return undefined;
    const former = random.pick([...services.keys()]);
    const { number, ...rest } = services.get(former)!;
    const made: ServiceDescription = { ...rest, number, pods: randomService(random, number, mode).pods };
    const name = `shop/t${next()}`;
    services.delete(former);
    services.set(name, made);
    return [former, name, ...describe(made)];
  },
  perform({ cluster }, [former = '', name = '', ...rest]) {
    cluster.removeService(former);
    cluster.putService(name, parseDescription(rest));
  },
};
