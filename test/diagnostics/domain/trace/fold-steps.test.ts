import { foldSteps, type Step } from '../../../../src/diagnostics/domain/trace/trace.js';
const PORT = 'shop/cart/tcp/http';
const step = (where: string, rule: string, effect: string, more: Partial<Step> = {}): Step => ({
  hook: 'prerouting',
  where,
  rule,
  effect,
  ...more,
});
const folded = (...steps: readonly Step[]) =>
  foldSteps(steps).map(({ step: { effect }, alike }) => [effect, ...alike.map((one) => one.effect)]);

describe('the steps of a packet', () => {
  it('have those of mode nftables once that are the same for all endpoints, and one draw for those that are like it', () => {
    const forEndpoint = (number: number) => [
      step(
        'ip kube-proxy pick-3',
        'numgen random mod 3',
        `draws ${number} of 3; sends it to 10.244.1.${number}:8080`,
        {
          servicePort: PORT,
        },
      ),
      step('ip kube-proxy nat-postrouting', 'jump masquerading', 'jump masquerading', {
        hook: 'postrouting',
        servicePort: PORT,
      }),
    ];
    expect(
      folded(
        step('ip kube-proxy nat-prerouting', 'jump services', 'jump services'),
        ...[1, 2, 3].flatMap(forEndpoint),
      ),
    ).toEqual([
      ['jump services'],
      [
        'draws 1 of 3; sends it to 10.244.1.1:8080',
        'draws 2 of 3; sends it to 10.244.1.2:8080',
        'draws 3 of 3; sends it to 10.244.1.3:8080',
      ],
      ['jump masquerading'],
    ]);
  });

  it('have the chains of endpoints in mode iptables once, the last one too, which has no chance', () => {
    const chains = ['KUBE-SEP-KXOIHPTRFOVJA3WD', 'KUBE-SEP-AQSNTVPHBXUWUFEA', 'KUBE-SEP-3NL7KZRYGQVEB235'];
    const forEndpoint = (chain: string, index: number) => {
      const left = chains.length - index;
      const chance = left > 1 ? ` -m statistic --mode random --probability 0.${left}3333` : '';
      const comment = `--comment "shop/cart:http -> [fd00::${index}]:8080"`;
      return [
        step(
          'nat KUBE-SVC-E4P542R5OJJ7WAFD',
          `-A KUBE-SVC-E4P542R5OJJ7WAFD -m comment ${comment}${chance} -j ${chain}`,
          `jump ${chain}${left > 1 ? ` by chance, 1 in ${left}` : ''}`,
          { servicePort: PORT },
        ),
        step(
          `nat ${chain}`,
          `-A ${chain} -p tcp -j DNAT --to-destination [fd00::${index}]:8080`,
          `sends it to [fd00::${index}]:8080`,
          { servicePort: PORT },
        ),
      ];
    };
    const result = folded(...chains.flatMap(forEndpoint));
    expect(result.map(({ length }) => length)).toEqual([3, 3]);
  });

  it('keep apart what is done to one endpoint alone', () => {
    const sent = (number: number) =>
      step('ip t pick', 'dnat', `sends it to 10.244.1.${number}:80`, { servicePort: PORT });
    const hairpin = step('ip t pick', 'ip saddr 10.244.1.2', 'marks it to be masqueraded', {
      servicePort: PORT,
    });
    expect(folded(sent(1), hairpin, sent(2))).toEqual([
      ['sends it to 10.244.1.1:80', 'sends it to 10.244.1.2:80'],
      ['marks it to be masqueraded'],
    ]);
  });

  it('keep apart service ports, hooks, and rules of other programs and uncertain ones that are not the same', () => {
    const effect = (number: number) => `sets the mark to ${number}`;
    const alike = (more: (number: number) => Partial<Step>) =>
      folded(...[1, 2].map((number) => step('ip t c', 'rule', effect(number), more(number)))).length;
    expect(alike(() => ({ servicePort: PORT }))).toBe(1);
    expect(alike((number) => ({ servicePort: `shop/cart-${number}/tcp/http` }))).toBe(2);
    expect(alike((number) => ({ servicePort: PORT, hook: `hook${number}` }))).toBe(2);
    expect(alike(() => ({ servicePort: PORT, foreign: true }))).toBe(2);
    expect(alike(() => ({ servicePort: PORT, uncertain: true }))).toBe(2);
    expect(alike(() => ({}))).toBe(2);
  });

  it('are as they were where nothing is alike', () => {
    const steps = [step('ip t a', 'one', 'goes on'), step('ip t b', 'two', 'goes on')];
    expect(foldSteps(steps)).toEqual(steps.map((one) => ({ step: one, alike: [] })));
  });
});
