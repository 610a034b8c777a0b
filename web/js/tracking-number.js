// Guarantee: a typing error in a tracking number is found without asking anybody.

/** `LCL`, seven or nine digits, and a check digit after GS1 General Specifications 7.9; `problem` says what is wrong. */
export function readTrackingNumber(text) {
  const number = text.toUpperCase().replace(/[\s-]/g, "");
  if (!number) return { number, problem: "Please enter a tracking number." };
  if (!/^LCL(\d{8}|\d{10})$/.test(number)) return { number, problem: "A tracking number is LCL and 8 or 10 digits, such as LCL48291057." };
  const digits = [...number.slice(3)].map(Number);
  const sum = digits.reverse().reduce((sum, digit, place) => sum + digit * (place % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0 ? { number } : { number, problem: "There is a typing error in this number: its last digit does not fit the others." };
}
