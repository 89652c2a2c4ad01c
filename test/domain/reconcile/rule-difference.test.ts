import { differing } from '../../../src/domain/reconcile/rule-difference.js';
import { unexplainedOwner } from '../../../src/domain/reconcile/claims.js';

it.each([
  ['a service port', 'shop/cart/udp/dns', { servicePort: 'shop/cart:dns' }],
  ['one without a name', 'shop/cart/tcp/', { servicePort: 'shop/cart' }],
  ['rules that no object explains', unexplainedOwner('shop/gone:web'), { servicePort: 'shop/gone:web' }],
  ['the node', undefined, {}],
])('a line of %s names it', (_, owner, named) => {
  expect(differing('-', 'rule', owner)).toEqual({ sign: '-', text: 'rule', ...named });
});
