import type { BudgetLimits, BudgetUse } from '../../store/budget-port.ts';
import { count, duration, price } from './quantities.ts';

/** `budget of the run · 1.2k of 20.0k tokens`: how much of a limit is used. */
export function budgetLine({ scope, limit, used, max }: BudgetUse): string {
  return `budget of the ${scope} · ${AMOUNTS[limit](used, max)}\n`;
}

const AMOUNTS: Readonly<Record<keyof BudgetLimits, (used: number, max: number) => string>> = {
  maxUsd: (used, max) => `${price(used)} of ${price(max)}`,
  maxTokens: (used, max) => `${count(used)} of ${count(max)} tokens`,
  maxDurationMs: (used, max) => `${duration(used)} of ${duration(max)}`,
};
