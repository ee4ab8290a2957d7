from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.fetch.resolve import check_answers, special_range

FORBIDDEN = """
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1
    127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8
    192.0.0.192 192.0.2.7 192.31.196.1 192.52.193.1 192.88.99.1 192.168.255.255 192.175.48.1
    198.18.0.1 198.19.255.255 198.51.100.9 203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1
    255.255.255.255
    :: ::1 ::2 ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:10.0.0.1 64:ff9b::7f00:1
    64:ff9b::808:808 64:ff9b:1::1 100::1 100:0:0:1::1 1::1 2001::1
    2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:3::1 2001:10::1 2001:20::1
    2001:30::1 2001:1ff:ffff::1 2001:db8::1
    2002::1 2002:7f00:1::1 2002:808:808::1 2620:4f:8000::1 3ffe::1 3fff::1 3fff:fff::1 4000::1
    5f00::1 8000::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1 fe80::1%1 fe80::1%eth0 febf::1 fec0::1
    feff::1 ff02::1 ff0e::1 2a04:4e42::5efe:10.0.0.1 2a04:4e42::200:5efe:8.8.8.8 2a04:4e42::1%eth0
""".split()  # noqa: SIM905 -- one address a line would be a page

PUBLIC = """
    1.1.1.1 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.84.4.18
    151.101.131.42 168.63.129.15 169.253.255.255 169.255.0.1 172.15.255.255 172.32.0.1
    191.255.255.255 192.0.1.1 192.167.255.255 192.169.0.1 198.17.255.255 198.20.0.1 223.255.255.255
    2001:200::1 2001:4860:4860::8888 2003::1 2600::1 2620:4f:8001::1 2a04:4e42::42 3ffd::1
""".split()  # noqa: SIM905 -- likewise


@pytest.mark.requirement("sandbox:hosts:special-address")
@pytest.mark.parametrize("answer", FORBIDDEN)
def test_a_special_address_is_refused(answer: str) -> None:
    assert special_range(answer)


@pytest.mark.parametrize("answer", PUBLIC)
def test_an_address_next_to_a_special_range_is_public(answer: str) -> None:
    assert special_range(answer) is None


@pytest.mark.requirement("sandbox:hosts:any-special-answer")
@pytest.mark.parametrize(
    "answers",
    [
        [],
        ["1.1.1.1", "10.0.0.1"],
        ["2a04:4e42::42", "::1"],
        ["1.1.1.1", "not an address"],
        ["127.1"],
    ],
)
def test_one_bad_answer_or_none_at_all_refuses_the_name(answers: list[str]) -> None:
    assert check_answers(answers)


def test_public_answers_of_both_families_are_fine() -> None:
    assert check_answers(["1.1.1.1", "2a04:4e42::42"]) is None


@pytest.mark.property
@given(st.ip_addresses(v=4))
def test_no_ipv4_address_becomes_public_by_being_embedded(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    for base in ("::", "::ffff:0:0", "::ffff:0:0:0", "64:ff9b::", "2001::", "2001:db8::"):
        embedded = ipaddress.IPv6Address(int(ipaddress.IPv6Address(base)) | number)
        assert special_range(str(embedded))
    six_to_four = ipaddress.IPv6Address((0x2002 << 112) | (number << 80))
    assert special_range(str(six_to_four))


@pytest.mark.property
@given(st.ip_addresses())
def test_addresses_that_python_calls_private_are_refused(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if address.is_private or address.is_multicast or address.is_reserved:
        assert special_range(str(address))
