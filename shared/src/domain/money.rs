//! Amounts of money in whole minor units: no float, no rounding but the one that tax law asks for.

use std::iter::Sum;
use std::ops::Add;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The largest amount that a caller may name, in major units.
const MAX_AMOUNT_MAJOR: i64 = 1_000_000;

/// A currency, with its own number of decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Currency {
    /// Singapore dollar.
    #[serde(rename = "SGD")]
    Sgd,
    /// Japanese yen, which has no minor unit.
    #[serde(rename = "JPY")]
    Jpy,
}

impl Currency {
    /// Decimals of the minor unit after ISO 4217.
    #[must_use]
    pub const fn decimals(self) -> u32 {
        match self {
            Self::Sgd => 2,
            Self::Jpy => 0,
        }
    }

    /// The ISO 4217 code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Sgd => "SGD",
            Self::Jpy => "JPY",
        }
    }

    /// The sign that people write before an amount.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Sgd => "S$",
            Self::Jpy => "¥",
        }
    }

    const fn minor_per_major(self) -> i64 {
        10_i64.pow(self.decimals())
    }

    /// The largest amount that a caller may name, and that an invoice may come to.
    #[must_use]
    pub const fn largest_amount(self) -> Money {
        Money::from_minor(MAX_AMOUNT_MAJOR * self.minor_per_major())
    }
}

impl FromStr for Currency {
    type Err = UnknownCurrency;

    fn from_str(code: &str) -> Result<Self, Self::Err> {
        [Self::Sgd, Self::Jpy].into_iter().find(|currency| currency.code() == code).ok_or(UnknownCurrency)
    }
}

/// The text is no currency that we bill in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be SGD or JPY")]
pub struct UnknownCurrency;

/// An amount in minor units (cents, yen). It does not know its currency: an invoice has one for all its amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money {
    minor: i64,
}

/// Why a text is no amount, worded for the person who typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMoney {
    /// Not a plain decimal number.
    #[error("must be an amount such as \"12.50\"")]
    Malformed,
    /// More decimals than the currency has.
    #[error("must have at most {} decimals", .0.decimals())]
    TooManyDecimals(Currency),
    /// Below zero.
    #[error("must not be negative")]
    Negative,
    /// Over a million.
    #[error("must be at most {MAX_AMOUNT_MAJOR}")]
    TooLarge,
}

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self { minor: 0 };

    /// From minor units (cents).
    #[must_use]
    pub const fn from_minor(minor: i64) -> Self {
        Self { minor }
    }

    /// In minor units (cents).
    #[must_use]
    pub const fn minor(self) -> i64 {
        self.minor
    }

    /// Parses a plain decimal of 0 to 1,000,000 such as `12.50`, `12.5` or `12`.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, InvalidMoney> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !fraction.is_none_or(all_digits) {
            return Err(InvalidMoney::Malformed);
        }
        if negative {
            return Err(InvalidMoney::Negative);
        }
        let (fraction, decimals) = (fraction.unwrap_or_default(), currency.decimals() as usize);
        if fraction.len() > decimals {
            return Err(InvalidMoney::TooManyDecimals(currency));
        }
        let minor = format!("{whole}{fraction:0<decimals$}").parse::<i64>().map_err(|_| InvalidMoney::TooLarge)?;
        let money = Self { minor };
        if money > currency.largest_amount() { Err(InvalidMoney::TooLarge) } else { Ok(money) }
    }

    /// This amount, `quantity` times; `None` if that is more than can be said.
    #[must_use]
    pub fn times(self, quantity: u32) -> Option<Self> {
        self.minor.checked_mul(i64::from(quantity)).map(Self::from_minor)
    }

    /// A plain decimal for programs: `1234.50`, in yen `1234`.
    #[must_use]
    pub fn plain(self, currency: Currency) -> String {
        let (whole, fraction) = self.parts(currency);
        format!("{}{whole}{fraction}", self.minus())
    }

    /// With thousands separators: `1,234.50`.
    #[must_use]
    pub fn grouped(self, currency: Currency) -> String {
        format!("{}{}", self.minus(), self.grouped_digits(currency))
    }

    /// With thousands separators and the currency's sign, for people: `S$1,234.50`.
    #[must_use]
    pub fn for_people(self, currency: Currency) -> String {
        format!("{}{}{}", self.minus(), currency.sign(), self.grouped_digits(currency))
    }

    fn minus(self) -> &'static str {
        if self.minor < 0 { "-" } else { "" }
    }

    fn grouped_digits(self, currency: Currency) -> String {
        let (whole, fraction) = self.parts(currency);
        let mut grouped = String::with_capacity(whole.len() * 4 / 3 + fraction.len());
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped + &fraction
    }

    /// The digits before the point, and the point with those after it; without a sign.
    fn parts(self, currency: Currency) -> (String, String) {
        let (minor, per_major) = (self.minor.unsigned_abs(), currency.minor_per_major().unsigned_abs());
        let fraction = match currency.decimals() as usize {
            0 => String::new(),
            decimals => format!(".{:0decimals$}", minor % per_major),
        };
        ((minor / per_major).to_string(), fraction)
    }
}

impl Add for Money {
    type Output = Self;

    /// Amounts are bounded to a million each and 500 lines, far from where this could overflow.
    fn add(self, other: Self) -> Self {
        Self { minor: self.minor + other.minor }
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sgd(text: &str) -> Result<Money, InvalidMoney> {
        Money::parse(text, Currency::Sgd)
    }

    #[test]
    fn amounts_that_are_no_amounts_are_refused() {
        for (text, error) in [
            ("1.234", InvalidMoney::TooManyDecimals(Currency::Sgd)),
            ("0.000", InvalidMoney::TooManyDecimals(Currency::Sgd)),
            ("-1.00", InvalidMoney::Negative),
            ("1000000.01", InvalidMoney::TooLarge),
            ("99999999999999999999999999", InvalidMoney::TooLarge),
            ("", InvalidMoney::Malformed),
            ("1e3", InvalidMoney::Malformed),
            ("+1", InvalidMoney::Malformed),
            ("1,000", InvalidMoney::Malformed),
            (" 1", InvalidMoney::Malformed),
            (".5", InvalidMoney::Malformed),
            ("5.", InvalidMoney::Malformed),
            ("NaN", InvalidMoney::Malformed),
            ("--1", InvalidMoney::Malformed),
            ("１", InvalidMoney::Malformed),
        ] {
            assert_eq!(sgd(text), Err(error), "{text:?}");
        }
        assert_eq!(sgd("1000000").unwrap().minor(), 100_000_000);
        assert_eq!(sgd("12.5").unwrap(), sgd("12.50").unwrap());
    }

    #[test]
    fn yen_have_no_decimals() {
        let yen = |text| Money::parse(text, Currency::Jpy);
        assert_eq!(yen("1000000").unwrap().minor(), 1_000_000);
        assert_eq!(yen("1000001"), Err(InvalidMoney::TooLarge));
        assert_eq!(yen("1.0"), Err(InvalidMoney::TooManyDecimals(Currency::Jpy)));
        assert_eq!(yen("1234").unwrap().plain(Currency::Jpy), "1234");
        assert_eq!(yen("1234").unwrap().for_people(Currency::Jpy), "¥1,234");
    }

    #[test]
    fn people_read_thousands_separators() {
        for (minor, text) in [
            (99_999_999, "S$999,999.99"),
            (100_000_000, "S$1,000,000.00"),
            (5, "S$0.05"),
            (0, "S$0.00"),
            (-123_456, "-S$1,234.56"),
            (-1, "-S$0.01"),
            (i64::MIN, "-S$92,233,720,368,547,758.08"),
        ] {
            assert_eq!(Money::from_minor(minor).for_people(Currency::Sgd), text);
        }
    }

    proptest! {
        #[test]
        fn an_amount_survives_being_written_and_read(minor in 0..=1_000_000_i64) {
            let money = Money::from_minor(minor);
            for currency in [Currency::Sgd, Currency::Jpy] {
                prop_assert_eq!(Money::parse(&money.plain(currency), currency), Ok(money));
                prop_assert_eq!(Money::parse(&money.grouped(currency).replace(',', ""), currency), Ok(money));
            }
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".*") {
            let _ = Money::parse(&text, Currency::Sgd);
        }
    }
}
